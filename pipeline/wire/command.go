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

// Phase is how much of an erasure a command requests.
type Phase string

// The phases. A later phase includes the earlier ones.
const (
	// PhaseSuppress: publish nothing about the targets from now on.
	PhaseSuppress Phase = "suppress"
	// PhasePurge: apply the new revisions, and search the places that held the record.
	PhasePurge Phase = "purge"
	// PhaseSearch: search everything.
	PhaseSearch Phase = "search"
	// PhaseLift: the request was cancelled; targets that only it has suppressed are accepted again. It replaces the
	// command to suppress.
	PhaseLift Phase = "lift"
)

// Rewrites reports whether the graphs are rewritten before a command of the phase.
func (p Phase) Rewrites() bool { return p == PhasePurge || p == PhaseSearch }

// CommandStep is a timestep that an erasure rewrote.
type CommandStep struct {
	Timestep lethe.Timestep `json:"timestep"`
	// Revision is the first one without the record.
	Revision lethe.Revision `json:"revision"`
	// Settled means that there are a manifest and slices of that revision.
	Settled bool `json:"settled"`
	// Shards are the shards of replaced slices, ascending.
	Shards []lethe.ShardID `json:"shards"`
	// Gone means that the timestep is empty and its graph, manifest, slices and models are deleted. If it is created
	// again, its revision is greater.
	Gone bool `json:"gone,omitempty"`
}

// Command is the coordinator's command to the roles for an erasure. It is on control.v1 until the receipt is
// published. It holds keyed hashes only.
type Command struct {
	Format    string `json:"format"`
	RequestID string `json:"request_id"`
	Attempt   int    `json:"attempt"`
	Phase     Phase  `json:"phase"`
	// SecretCheck identifies the secret of the hashes, see Shares.
	SecretCheck string `json:"secret_check,omitempty"`
	// Suppressed are the keyed hashes of the targets (lethe.Secret.Suppressed).
	Suppressed []lethe.Digest `json:"suppressed"`
	// Subjects are the subjects of Suppressed; in a command to lift, those that other requests still suppress, with the
	// last suppressed timestep.
	Subjects []lethe.SubjectUntil `json:"subjects,omitempty"`
	// Redacted are the features of Suppressed, with their columns.
	Redacted []lethe.Redaction `json:"redacted,omitempty"`
	// Fingerprints are searched for.
	Fingerprints []scan.Fingerprint `json:"fingerprints"`
	Steps        []CommandStep      `json:"steps"`
}

// Restarts reports whether steps for a previous command of the request do not count for this one, because one of them
// lifts what the other suppresses. (The tombstone between them may have been compacted.)
func (c *Command) Restarts(before *Command) bool {
	return before == nil || c.Phase == PhaseLift || before.Phase == PhaseLift
}

// Removes reports whether a message is of a deleted timestep, before its deletion.
func (c *Command) Removes(m Received) bool {
	return slices.ContainsFunc(c.Steps, func(step CommandStep) bool {
		return step.Gone && step.Timestep == m.Key.Timestep && m.Revision <= step.Revision
	})
}

// Shards returns the shards with replaced slices.
func (c *Command) Shards() map[lethe.ShardID]bool {
	out := make(map[lethe.ShardID]bool)
	for _, s := range c.Steps {
		for _, shard := range s.Shards {
			out[shard] = true
		}
	}
	return out
}

// Search searches every file of a role's folder for the targets, at a pace.
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

// commandKey is the key of a command in one record, and the prefix of the keys of chunks.
func commandKey(requestID string) string { return commandPrefix + requestID }

func (c *Command) encode() ([]byte, error) {
	c.Format = commandFormat
	value, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("command of request %s: %w", c.RequestID, err)
	}
	return value, nil
}

// Records returns the command as one record of control.v1, or as chunks.
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

// RequestOf returns the request of a command, a copy of the ledger, or a chunk of either by its key on control.v1; ""
// if it is not one of these.
func RequestOf(key string) (requestID string, command bool) {
	if rest, is := strings.CutPrefix(key, commandPrefix); is {
		requestID, _, _ = strings.Cut(rest, "/")
		return requestID, true
	}
	return ledgercopy.RequestOf(key), false
}

// Tombstones deletes a command, and every smaller one of the same request or batch.
func (c *Command) Tombstones() ([]ingest.Outgoing, error) {
	value, err := c.encode()
	if err != nil {
		return nil, err
	}
	chunks := 0
	if len(value) > bus.DefaultChunkBytes/2 {
		// It may have been larger by some digits of revisions.
		chunks = len(value)/bus.DefaultChunkBytes + 2
	}
	return append(bus.RetractFrom(commandKey(c.RequestID), 0, chunks), CommandTombstone(c.RequestID)), nil
}

// CommandTombstone deletes a command in one record. Readers take it for the end of the command.
func CommandTombstone(requestID string) ingest.Outgoing {
	return ingest.Outgoing{Key: []byte(commandKey(requestID))}
}
