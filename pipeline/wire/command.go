package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/scan"
	"lethe/ingest"
)

const (
	commandFormat = "lethe-erasure-order/1"
	commandPrefix = "order/"
	ackPrefix     = "ack/"
)

// Phase is how much of an erasure the other roles are asked to do.
type Phase string

// The phases. A command of a later phase asks for the earlier one too.
const (
	// PhaseSuppress: let nothing about the subject leave any more.
	PhaseSuppress Phase = "suppress"
	// PhasePurge: replace what the new revisions replace, then search what is
	// left on disk.
	PhasePurge Phase = "purge"
)

// CommandStep is a timestep that an erasure rewrote.
type CommandStep struct {
	Timestep lethe.Timestep `json:"timestep"`
	// Revision is the one that no longer holds the record.
	Revision lethe.Revision `json:"revision"`
	// Settled says that there are a manifest and slices of that revision.
	Settled bool `json:"settled"`
	// Shards are those whose slices were replaced, ascending.
	Shards []lethe.ShardID `json:"shards"`
}

// Command is what the coordinator asks of the roles for an erasure. It travels on
// erasure-status.v1 and is deleted once the receipt is out. It holds keyed
// hashes only.
type Command struct {
	Format    string `json:"format"`
	RequestID string `json:"request_id"`
	Attempt   int    `json:"attempt"`
	Phase     Phase  `json:"phase"`
	// Suppressed are the keyed hashes of the erased ids.
	Suppressed []lethe.Digest `json:"suppressed"`
	// Fingerprints are what to search for.
	Fingerprints []scan.Fingerprint `json:"fingerprints"`
	Steps        []CommandStep      `json:"steps"`
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

// Search looks for what the command erases in every file of a role's folder.
func (c *Command) Search(ctx context.Context, secret lethe.Secret, dir string) (scan.Summary, error) {
	scanner, err := scan.NewScanner(secret, c.Fingerprints)
	if err != nil {
		return scan.Summary{}, err
	}
	report, err := scanner.ScanDir(ctx, os.DirFS(dir))
	if err != nil {
		return scan.Summary{}, fmt.Errorf("search the role's folder: %w", err)
	}
	return report.Summary(), nil
}

// CommandKey is the key of a request's command.
func CommandKey(requestID string) []byte { return []byte(commandPrefix + requestID) }

// Record returns the command as a record of erasure-status.v1.
func (c *Command) Record() (ingest.Outgoing, error) {
	c.Format = commandFormat
	value, err := json.Marshal(c)
	if err != nil {
		return ingest.Outgoing{}, fmt.Errorf("command of request %s: %w", c.RequestID, err)
	}
	return ingest.Outgoing{Key: CommandKey(c.RequestID), Value: value}, nil
}

// Notice is what a record of erasure-status.v1 says: at most one field is set.
// Deleted is the request whose command was deleted.
type Notice struct {
	Status  *deletions.Status
	Command *Command
	Ack     *deletions.Ack
	Deleted string
}

// ParseNotice reads a record of erasure-status.v1. Control records say nothing.
func ParseNotice(rec ingest.Record) (Notice, error) {
	key := string(rec.Key)
	var n Notice
	var err error
	switch {
	case strings.HasPrefix(key, "!"):
	case strings.HasPrefix(key, commandPrefix):
		if rec.Tombstone() {
			n.Deleted = strings.TrimPrefix(key, commandPrefix)
			break
		}
		n.Command = &Command{}
		if err = json.Unmarshal(rec.Value, n.Command); err == nil && n.Command.Format != commandFormat {
			err = fmt.Errorf("format %q, want %q", n.Command.Format, commandFormat)
		}
	case rec.Tombstone():
	case strings.HasPrefix(key, ackPrefix):
		var a deletions.Ack
		a, err = deletions.DecodeAck(rec.Value)
		n.Ack = &a
	default:
		var s deletions.Status
		s, err = deletions.DecodeStatus(rec.Value)
		n.Status = &s
	}
	if err != nil {
		return Notice{}, fmt.Errorf("%s/%d@%d: %w", rec.Topic, rec.Partition, rec.Offset, err)
	}
	return n, nil
}
