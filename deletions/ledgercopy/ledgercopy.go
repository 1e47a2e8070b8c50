// Package ledgercopy keeps every entry of the ledger a second time, as control records of control.v1, which is
// compacted: a ledger that was lost is made again from there. Like the ledger, a copy holds keyed hashes only.
package ledgercopy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
)

const keyPrefix = "!ledger/"

// ErrLost is returned if the ledger lacks a request that was carried out: erased data could come back. The operator
// restores the ledger.
var ErrLost = errors.New("the ledger does not know a request that was carried out")

// Records returns the copy of an entry as records of control.v1.
func Records(e deletions.Entry) ([]ingest.Outgoing, error) {
	value, err := e.Encode()
	if err != nil {
		return nil, err
	}
	return bus.Chunks(keyPrefix+e.RequestID, value, nil, bus.DefaultChunkBytes), nil
}

// IsCopy reports whether a record of control.v1 with such a key is a copy of an entry, or a part of one.
func IsCopy(key []byte) bool { return strings.HasPrefix(string(key), keyPrefix) }

// RequestOf returns the request of a record's key if the record is a copy of its entry, or a part of one; "" for
// others.
func RequestOf(key string) string {
	rest, is := strings.CutPrefix(key, keyPrefix)
	if !is {
		return ""
	}
	id, _, _ := strings.Cut(rest, "/")
	return id
}

// HoldRecord returns the copy of a hold, which is also its published state.
func HoldRecord(h deletions.Hold) (ingest.Outgoing, error) {
	value, err := h.Encode()
	return ingest.Outgoing{Key: []byte(h.Key()), Value: value}, err
}

// Bus reads topics; *bus.Client is one.
type Bus interface {
	ReadAll(ctx context.Context, t bus.Topic, fn func(ingest.Record) error) error
}

// Copy is the state of requests and holds on control.v1 and erasure-status.v1.
type Copy struct {
	// Entries are by request id.
	Entries map[string]deletions.Entry
	// Withdrawn are those of them whose record was deleted since: compaction will remove them, so they must be written
	// again.
	Withdrawn map[string]bool
	// CarriedOut are the requests whose status is suppressed or later.
	CarriedOut []string
	// Holds are by name.
	Holds map[string]deletions.Hold
}

// Read reads the copy. Records that this deployment has not written are ignored.
func Read(ctx context.Context, topics Bus) (Copy, error) {
	c := Copy{
		Entries: make(map[string]deletions.Entry), Withdrawn: make(map[string]bool), Holds: make(map[string]deletions.Hold),
	}
	carriedOut := make(map[string]bool)
	var chunks *bus.Assembler
	take := func(rec ingest.Record) error {
		if rec.Unauthenticated != "" {
			return nil
		}
		if strings.HasPrefix(string(rec.Key), keyPrefix) {
			// The assembler skips control records.
			rec.Key = rec.Key[1:]
			if payload, complete, err := chunks.Add(rec); err == nil && complete {
				c.take(payload)
			}
			return nil
		}
		if deletions.IsHoldKey(string(rec.Key)) {
			c.takeHold(rec)
			return nil
		}
		if s, err := deletions.DecodeStatus(rec.Value); err == nil && s.RequestID == string(rec.Key) {
			carriedOut[s.RequestID] = suppresses(s)
		}
		return nil
	}
	// Holds and statuses are on erasure-status.v1, entries on control.v1.
	for _, topic := range []bus.Topic{bus.ErasureStatus, bus.Control} {
		chunks = bus.NewAssembler()
		if err := topics.ReadAll(ctx, topic, take); err != nil {
			return c, err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(carriedOut)) {
		if carriedOut[id] {
			c.CarriedOut = append(c.CarriedOut, id)
		}
	}
	return c, nil
}

// take adds an entry or a deletion.
func (c *Copy) take(p bus.Payload) {
	if p.Retracted {
		c.Withdrawn[strings.TrimPrefix(p.Key, keyPrefix[1:])] = true
		return
	}
	if e, err := deletions.DecodeEntry(p.Bytes); err == nil &&
		len(e.History) >= len(c.Entries[e.RequestID].History) { // else it is a late record of a fenced leader
		c.Entries[e.RequestID] = e
		delete(c.Withdrawn, e.RequestID)
	}
}

// takeHold adds a hold.
func (c *Copy) takeHold(rec ingest.Record) {
	h, err := deletions.DecodeHold(rec.Value)
	if err == nil && !c.Holds[h.Name].LastChange.After(h.LastChange) { // else it is a late record of a fenced leader
		c.Holds[h.Name] = h
	}
}

// suppresses reports whether a status is of a request whose targets are suppressed.
func suppresses(s deletions.Status) bool {
	state := s.State
	if state == deletions.Failed {
		state = s.FailedIn
	}
	return !slices.Contains([]deletions.State{
		deletions.Received, deletions.Accepted, deletions.Rejected, deletions.Held, deletions.Cancelled,
	}, state)
}

// Erased returns the entries whose targets are suppressed for good: they can no longer be cancelled.
func (c Copy) Erased() (out []deletions.Entry) {
	for _, id := range slices.Sorted(maps.Keys(c.Entries)) {
		if e := c.Entries[id]; e.Suppresses() && !e.State.Cancellable() {
			out = append(out, e)
		}
	}
	return out
}

// Restore adds missing entries to the ledger, and returns the entries without a copy of the same state. The error is
// ErrLost if a request was carried out that neither has.
func (c Copy) Restore(l *deletions.Ledger) (uncopied []deletions.Entry, err error) {
	for _, id := range slices.Sorted(maps.Keys(c.Entries)) {
		if err := l.Restore(c.Entries[id]); err != nil {
			return nil, err
		}
	}
	if err := c.restoreHolds(l); err != nil {
		return nil, err
	}
	for _, id := range c.CarriedOut {
		_, err := l.Get(id)
		if errors.Is(err, deletions.ErrUnknownRequest) {
			err = fmt.Errorf("%w: %s, says its status", ErrLost, id)
		}
		if err != nil {
			return nil, err
		}
	}
	list, err := l.List()
	return slices.DeleteFunc(list, func(e deletions.Entry) bool {
		return !c.Withdrawn[e.RequestID] && len(c.Entries[e.RequestID].History) == len(e.History)
	}), err
}

// restoreHolds puts into the ledger the holds of which it knows less.
func (c Copy) restoreHolds(l *deletions.Ledger) error {
	known, err := l.Holds()
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(c.Holds)) {
		copied := c.Holds[name]
		if slices.ContainsFunc(known, func(h deletions.Hold) bool {
			return h.Name == name && !copied.LastChange.After(h.LastChange)
		}) {
			continue
		}
		if err := l.PutHold(copied); err != nil {
			return err
		}
	}
	return nil
}

// UncopiedHolds returns the holds of the ledger without a valid copy.
func (c Copy) UncopiedHolds(l *deletions.Ledger) ([]deletions.Hold, error) {
	list, err := l.Holds()
	return slices.DeleteFunc(list, func(h deletions.Hold) bool { return c.Holds[h.Name].LastChange == h.LastChange }), err
}
