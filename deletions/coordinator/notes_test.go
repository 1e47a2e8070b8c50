package coordinator

import (
	"maps"
	"math"
	"slices"
	"strings"

	"lethe/ingest/bus"
)

type fakeNotes struct {
	d         *deployment
	next      int64
	concluded map[string]bool
	// read is how far the present process has been handed erasures.v1.
	read int64
}

func (n *fakeNotes) Commit(_ bus.TopicPartition, next int64) error {
	return n.d.call(func() error { n.next = next; return nil }, "commit up to %d", next)
}

// Taken implements Notes: the graphs have taken all that is in the topics.
func (n *fakeNotes) Taken() map[int]int64 { return map[int]int64{0: math.MaxInt64} }

func (n *fakeNotes) Concluded(requestID string) (bool, error) { return n.concluded[requestID], nil }

func (n *fakeNotes) Conclude(requestIDs ...string) error {
	return n.d.call(func() error {
		for _, id := range requestIDs {
			n.concluded[id] = true
		}
		return nil
	}, "note that %s is concluded", strings.Join(requestIDs, ", "))
}

type fakeReceipts struct {
	d    *deployment
	kept map[string][]byte
}

func (r fakeReceipts) Has(requestID string) (bool, error) { return r.kept[requestID] != nil, nil }

func (r fakeReceipts) Keep(signed map[string][]byte) error {
	whose := strings.Join(slices.Sorted(maps.Keys(signed)), ", ")
	return r.d.call(func() error { maps.Copy(r.kept, signed); return nil }, "keep receipt of %s", whose)
}
