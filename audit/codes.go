package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
	"lethe/service"
)

// codesOf is checkCodes for the directory.
func codesOf(inv *inventory) func(context.Context, *bus.Client, *Report) error {
	return func(ctx context.Context, client *bus.Client, r *Report) error { return checkCodes(ctx, inv, client, r) }
}

// checkCodes checks that every record on an internal topic carries the code of the deployment: one that does not is
// forged, and was ignored.
func checkCodes(ctx context.Context, inv *inventory, client *bus.Client, r *Report) error {
	path := service.SealedPath(inv.config.DataDir)
	sealed, err := service.ReadSealed(inv.config.DataDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var before map[bus.TopicPartition]int64
	if err == nil {
		before, err = sealed.Before()
	}
	if here := wire.SecretCheck(inv.secret); err == nil && sealed.SecretCheck != here {
		r.problem("%s is of the secret with the key check %s, and the secret here has %s", path, sealed.SecretCheck, here)
		return nil
	}
	if err != nil {
		r.problem("%v: %s", err, service.SealedRemedy(inv.config))
		return nil
	}
	wire.SealOf(inv.secret, before).On(client)
	defer (*bus.Seal)(nil).On(client)
	for _, topic := range bus.Sealed() {
		err := client.ReadAll(ctx, topic, func(rec ingest.Record) error {
			// Operators without the secret mark dead letters too.
			if _, _, isMark := ingest.ReadMark(rec); rec.Unauthenticated != "" && !isMark {
				r.problem("%s/%d@%d was not written by this deployment: %s", topic, rec.Partition, rec.Offset, rec.Unauthenticated)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("codes of %s: %w", topic, err)
		}
	}
	return nil
}
