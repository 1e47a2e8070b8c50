package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"lethe"
	"lethe/deletions/ledgercopy"
	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/ingest/bus"
)

const (
	commandFormat = "lethe-erasure-order/1"
	commandPrefix = "order/"
)

// Phase is how much of an erasure the other roles are asked to do.
type Phase string

// The phases. A command of a later phase asks for the earlier one too.
const (
	// PhaseSuppress: let nothing about the subject leave any more.
	PhaseSuppress Phase = "suppress"
	// PhasePurge: replace what the new revisions replace, and search the places
	// that held the record.
	PhasePurge Phase = "purge"
	// PhaseSearch: search everything.
	PhaseSearch Phase = "search"
	// PhaseLift: the request was cancelled, what it alone has suppressed is taken again.
	// It replaces the command that asked to suppress it.
	PhaseLift Phase = "lift"
)

// Rewrites reports whether a command of the phase comes after something was rewritten.
func (p Phase) Rewrites() bool { return p == PhasePurge || p == PhaseSearch }

// CommandStep is a timestep that an erasure rewrote.
type CommandStep struct {
	Timestep lethe.Timestep `json:"timestep"`
	// Revision is the one that no longer holds the record.
	Revision lethe.Revision `json:"revision"`
	// Settled says that there are a manifest and slices of that revision.
	Settled bool `json:"settled"`
	// Shards are those whose slices were replaced, ascending.
	Shards []lethe.ShardID `json:"shards"`
	// Gone says that the timestep is empty and was deleted everywhere: graph,
	// manifest, slices and models. If it comes again, its revision is greater.
	Gone bool `json:"gone,omitempty"`
}

// Command is what the coordinator asks of the roles for an erasure. It travels on
// control.v1 and is deleted once the receipt is out. It holds keyed
// hashes only.
type Command struct {
	Format    string `json:"format"`
	RequestID string `json:"request_id"`
	Attempt   int    `json:"attempt"`
	Phase     Phase  `json:"phase"`
	// SecretCheck tells whose secret the hashes are made with, see Shares.
	SecretCheck string `json:"secret_check,omitempty"`
	// Suppressed are the keyed hashes of what is erased (lethe.Secret.Suppressed).
	Suppressed []lethe.Digest `json:"suppressed"`
	// Subjects are those of Suppressed that are subjects; in a command that lifts, those that
	// others still suppress, with the last timestep of what goes from now on.
	Subjects []lethe.SubjectUntil `json:"subjects,omitempty"`
	// Redacted are those of the suppressed that are features, with their columns.
	Redacted []lethe.Redaction `json:"redacted,omitempty"`
	// Fingerprints are what to search for.
	Fingerprints []scan.Fingerprint `json:"fingerprints"`
	Steps        []CommandStep      `json:"steps"`
}

// Restarts reports whether nothing that was done for another command of the request counts for this one: one of them
// takes back what the other one has suppressed. (That the request was done with between them is not told where the
// deletion of the other one was compacted away.)
func (c *Command) Restarts(before *Command) bool {
	return before == nil || c.Phase == PhaseLift || before.Phase == PhaseLift
}

// Removes reports whether a message is of a timestep that the command says is gone, as it was before.
func (c *Command) Removes(m Received) bool {
	return slices.ContainsFunc(c.Steps, func(step CommandStep) bool {
		return step.Gone && step.Timestep == m.Key.Timestep && m.Revision <= step.Revision
	})
}

// Shards returns the shards whose slices were replaced at any timestep.
func (c *Command) Shards() map[lethe.ShardID]bool {
	out := make(map[lethe.ShardID]bool)
	for _, s := range c.Steps {
		for _, shard := range s.Shards {
			out[shard] = true
		}
	}
	return out
}

// Search looks for what the command erases in every file of a role's folder, at a
// pace.
func (c *Command) Search(
	ctx context.Context, secret lethe.Secret, folder fs.FS, pacer *scan.Pacer,
) (scan.Summary, error) {
	scanner, err := scan.NewScanner(secret, c.Fingerprints)
	if err != nil {
		return scan.Summary{}, err
	}
	report, err := scanner.ScanDirAt(ctx, folder, pacer, nil)
	if err != nil {
		return scan.Summary{}, fmt.Errorf("search the role's folder: %w", err)
	}
	return report.Summary(), nil
}

// commandKey is the key of a command that fits one record, and begins those of the
// chunks of a larger one.
func commandKey(requestID string) string { return commandPrefix + requestID }

func (c *Command) encode() ([]byte, error) {
	c.Format = commandFormat
	value, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("command of request %s: %w", c.RequestID, err)
	}
	return value, nil
}

// Records returns the command as records of control.v1: one, or chunks if it is
// too large for that.
func (c *Command) Records() ([]ingest.Outgoing, error) {
	value, err := c.encode()
	if err != nil {
		return nil, err
	}
	if len(value) <= bus.DefaultChunkBytes {
		return []ingest.Outgoing{{Key: []byte(commandKey(c.RequestID)), Value: value}}, nil
	}
	return bus.Chunks(commandKey(c.RequestID), value, nil, bus.DefaultChunkBytes), nil
}

// RequestOf returns the request of which a record of control.v1 with such a key is the command, or the copy of the
// ledger's entry, or a part of one; "" if it is of none.
func RequestOf(key string) (requestID string, command bool) {
	if rest, is := strings.CutPrefix(key, commandPrefix); is {
		requestID, _, _ = strings.Cut(rest, "/")
		return requestID, true
	}
	return ledgercopy.RequestOf(key), false
}

// Tombstones delete a command, and every smaller one of the same request or batch.
func (c *Command) Tombstones() ([]ingest.Outgoing, error) {
	value, err := c.encode()
	if err != nil {
		return nil, err
	}
	chunks := 0
	if len(value) > bus.DefaultChunkBytes/2 {
		// The digits of revisions may have made it a little larger before.
		chunks = len(value)/bus.DefaultChunkBytes + 2
	}
	return append(bus.RetractFrom(commandKey(c.RequestID), 0, chunks), CommandTombstone(c.RequestID)), nil
}

// CommandTombstone deletes the command of a request that fits one record. Whoever reads
// it knows that the command is gone.
func CommandTombstone(requestID string) ingest.Outgoing {
	return ingest.Outgoing{Key: []byte(commandKey(requestID))}
}
