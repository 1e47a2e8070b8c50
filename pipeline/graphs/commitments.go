package graphs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/translog"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
)

// commitments adds leaves to the log for records of control.v1: models of train, and accesses of people.
type commitments struct {
	log    *translog.Log
	logger *slog.Logger
	// owners are the newest owners of each model.
	owners map[modelPlace]*wire.Fence
}

// modelPlace identifies a model.
type modelPlace struct {
	component, group int
	timestep         lethe.Timestep
}

func newCommitments(log *translog.Log, o Options) *commitments {
	return &commitments{log, o.Logger, make(map[modelPlace]*wire.Fence)}
}

// models commits to the models of a batch. control.v1 is read from its start each time; records before the position in
// the log are known. A record of a previous owner behind one of a later owner is stale.
func (c *commitments) models(batch bus.Batch) error {
	source := batch.Source.String()
	known, err := c.log.Position(source)
	if err != nil {
		return err
	}
	var list []translog.Leaf
	for _, rec := range batch.Records {
		model, found, err := wire.ParseCommitment(rec)
		late := found && c.late(model)
		switch {
		case rec.Offset < known, late:
		case err != nil:
			c.logger.Error("a commitment of no process of this deployment was ignored", "topic", rec.Topic,
				"partition", rec.Partition, "offset", rec.Offset)
		case found && model.Setup:
			list = append(list, translog.Setup{Digest: model.Digest})
		case found:
			list = append(list, translog.Checkpoint{
				Component: model.Component, Group: model.Group, Timestep: model.Timestep, Lineage: model.Lineage,
				Digest: model.Digest,
			})
		}
	}
	if len(list) == 0 {
		return nil
	}
	if _, err := c.log.CommitThrough(source, batch.Next, list...); err != nil {
		return fmt.Errorf("commit to %d models: %w", len(list), err)
	}
	return nil
}

// late reports whether a later owner of the model has already committed to it.
func (c *commitments) late(model wire.Commitment) bool {
	at := modelPlace{model.Component, model.Group, model.Timestep}
	if c.owners[at] == nil {
		c.owners[at] = new(wire.Fence)
	}
	return !model.Setup && c.owners[at].Stale(model.By)
}

// accesses commits to accesses through the API, and deletes their records. A record that a crash leaves is ignored
// later.
func (c *commitments) accesses(ctx context.Context, batch bus.Batch, out wire.Publisher) error {
	source := "access/" + batch.Source.String()
	known, err := c.log.Position(source)
	if err != nil {
		return err
	}
	var list []translog.Leaf
	var gone []ingest.Outgoing
	for _, rec := range batch.Records {
		access, found, err := wire.ParseAccess(rec)
		deed := translog.Deed(access.Deed)
		switch {
		case rec.Offset < known:
		case err != nil, found && !deed.Valid():
			c.logger.Error("an access of no process of this deployment was ignored", "topic", rec.Topic,
				"partition", rec.Partition, "offset", rec.Offset)
		case found:
			list = append(list, translog.Access{
				Deed: deed, At: access.At, Actor: access.Actor, Request: access.Request, Count: access.Count,
			})
			gone = append(gone, ingest.Outgoing{Key: bytes.Clone(rec.Key)})
		}
	}
	if len(list) == 0 {
		return nil
	}
	if _, err := c.log.CommitThrough(source, batch.Next, list...); err != nil {
		return fmt.Errorf("%d accesses: %w", len(list), err)
	}
	if err := c.log.Publish(ctx, out); err != nil { // a new leader will find no record
		return err
	}
	return out.Write(ctx, bus.Control, gone)
}

// startLog opens the transparency log, compares it with log.v1, and connects the ledger to it.
func startLog(ctx context.Context, o Options, kv deletions.KV, ledger *deletions.Ledger) (*translog.Log, error) {
	signer, err := translog.NewSigner(translog.Name(o.Erasure.Deployment.String()), o.Erasure.SigningKey)
	if err != nil {
		return nil, fmt.Errorf("transparency log: %w", err)
	}
	entries, err := ledger.List()
	if err != nil {
		return nil, err
	}
	holds, err := ledger.Holds()
	if err != nil {
		return nil, err
	}
	log := translog.NewLog(kv, signer)
	if before := o.Erasure.KeyBefore; before != nil && !before.Equal(o.Erasure.SigningKey) {
		log.Follow(before, o.Clock.Now())
	}
	leaders, err := role.ReadLeaders(ctx, o.Bus)
	if err != nil {
		return nil, err
	}
	late := func(rec ingest.Record) bool { return leaders.Stale(bus.Log, rec) }
	err = log.Start(ctx, o.Bus, late, deletions.Changes{Entries: entries, Holds: holds})
	var refusal *translog.Refusal
	if errors.As(err, &refusal) && refusal.Statement == translog.StatementKey {
		return nil, fmt.Errorf("%w: %w (put the signing key of before back; lethe log rotate-key replaces it by a new one)",
			ErrLost, err)
	}
	if errors.As(err, &refusal) {
		return nil, fmt.Errorf("%w: %w (put the folder %s/ledger back from a newer copy, or remove it, "+
			"to have it made again from the topics)", ErrLost, err, o.Dir)
	}
	if err != nil {
		return nil, err
	}
	ledger.Keep(log)
	return log, nil
}
