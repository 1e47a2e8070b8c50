package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/scan"
	"lethe/ingest"
)

const (
	orderFormat = "lethe-erasure-order/1"
	orderPrefix = "order/"
	ackPrefix   = "ack/"
)

// Phase is how much of an erasure the other roles are asked to do.
type Phase string

// The phases. An order of a later phase asks for the earlier one too.
const (
	// PhaseSuppress: let nothing about the subject leave any more.
	PhaseSuppress Phase = "suppress"
	// PhasePurge: replace what the new revisions replace, then search what is
	// left on disk.
	PhasePurge Phase = "purge"
)

// OrderStep is a timestep that an erasure rewrote.
type OrderStep struct {
	Timestep lethe.Timestep `json:"timestep"`
	// Revision is the one that no longer holds the record.
	Revision lethe.Revision `json:"revision"`
	// Settled says that there are a manifest and slices of that revision.
	Settled bool `json:"settled"`
	// Shards are those whose slices were replaced, ascending.
	Shards []lethe.ShardID `json:"shards"`
}

// Order is what the coordinator asks of the roles for an erasure. It travels on
// erasure-status.v1 and is deleted once the receipt is out. It holds keyed
// hashes only.
type Order struct {
	Format    string `json:"format"`
	RequestID string `json:"request_id"`
	Attempt   int    `json:"attempt"`
	Phase     Phase  `json:"phase"`
	// Suppressed are the keyed hashes of the erased ids.
	Suppressed []lethe.Digest `json:"suppressed"`
	// Fingerprints are what to search for.
	Fingerprints []scan.Fingerprint `json:"fingerprints"`
	Steps        []OrderStep        `json:"steps"`
}

// Shards returns the shards whose slices were replaced at any timestep.
func (o *Order) Shards() map[lethe.ShardID]bool {
	out := make(map[lethe.ShardID]bool)
	for _, s := range o.Steps {
		for _, shard := range s.Shards {
			out[shard] = true
		}
	}
	return out
}

// Search looks for what the order erases in every file of a role's folder.
func (o *Order) Search(ctx context.Context, secret lethe.Secret, dir string) (scan.Summary, error) {
	scanner, err := scan.NewScanner(secret, o.Fingerprints)
	if err != nil {
		return scan.Summary{}, err
	}
	report, err := scanner.ScanDir(ctx, dir, scan.DirOptions{})
	if err != nil {
		return scan.Summary{}, fmt.Errorf("search the role's folder: %w", err)
	}
	return report.Summary(), nil
}

// OrderKey is the key of a request's order.
func OrderKey(requestID string) []byte { return []byte(orderPrefix + requestID) }

// Record returns the order as a record of erasure-status.v1.
func (o *Order) Record() (ingest.Outgoing, error) {
	o.Format = orderFormat
	value, err := json.Marshal(o)
	if err != nil {
		return ingest.Outgoing{}, fmt.Errorf("order of request %s: %w", o.RequestID, err)
	}
	return ingest.Outgoing{Key: OrderKey(o.RequestID), Value: value}, nil
}

// Notice is what a record of erasure-status.v1 says: at most one field is set.
// Deleted is the request whose order was deleted.
type Notice struct {
	Status  *deletions.Status
	Order   *Order
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
	case strings.HasPrefix(key, orderPrefix):
		if rec.Tombstone() {
			n.Deleted = strings.TrimPrefix(key, orderPrefix)
			break
		}
		n.Order = &Order{}
		if err = json.Unmarshal(rec.Value, n.Order); err == nil && n.Order.Format != orderFormat {
			err = fmt.Errorf("format %q, want %q", n.Order.Format, orderFormat)
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
