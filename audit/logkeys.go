package audit

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"slices"

	"lethe/deletions/translog"
	"lethe/internal/atomicfile"
	"lethe/internal/jcs"
)

// LogKeys checks a log and follows its keys from the known one: it returns those that sign or have signed it, newest
// first, if the check succeeds. The error is for data that could not be read.
func LogKeys(ctx context.Context, o LogOptions) ([]translog.Epoch, *translog.Report, error) {
	e, err := gather(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	report := translog.Verify(e)
	if !report.OK {
		return nil, report, nil
	}
	log := e.Stored
	if log == nil {
		log = e.Published
	}
	origin := e.Origin
	if checkpoint, err := translog.ParseCheckpoint(log.Checkpoint); err == nil && origin == "" {
		origin = checkpoint.Origin
	}
	keys, err := translog.KeysOf(origin, log.Leaves, e.Key)
	slices.Reverse(keys)
	return keys, report, err
}

// PublicKeys returns the keys of epochs, in their order.
func PublicKeys(epochs []translog.Epoch) (out []ed25519.PublicKey) {
	for _, e := range epochs {
		out = append(out, e.Key)
	}
	return out
}

// mostLogBytes is enough for a log of millions of leaves.
const mostLogBytes = 4 << 30

// readLogFile reads the output of lethe log show --json. It converts the leaves back to their
// canonical form, over which their hashes are computed.
func readLogFile(path string) (c translog.Copy, err error) {
	text, err := atomicfile.Read(path, mostLogBytes)
	if err != nil {
		return c, fmt.Errorf("--log: %w", err)
	}
	var checkpoint struct {
		Leaves     []json.RawMessage `json:"leaves"`
		Checkpoint string            `json:"checkpoint"`
	}
	if err := json.Unmarshal(text, &checkpoint); err != nil {
		return c, fmt.Errorf("--log: %s is not what lethe log show --json prints: %w", path, err)
	}
	c.Checkpoint = checkpoint.Checkpoint
	for i, leaf := range checkpoint.Leaves {
		canonical, err := jcs.Transform(leaf)
		if err != nil {
			return c, fmt.Errorf("--log: %s: leaf %d: %w", path, i, err)
		}
		c.Leaves = append(c.Leaves, canonical)
	}
	return c, nil
}
