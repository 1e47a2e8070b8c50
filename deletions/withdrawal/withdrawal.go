// Package withdrawal removes from the topics the records that name something erased. They may come again: a replay, a
// late label, a broken record. Intake drops them, and they are tombstoned instead of dead-lettered.
//
// Records of a new request are withdrawn twice: at once those whose keys the graphs know (RemoveNamed), and all others
// after a search of the topics (Remove).
//
//	withdrawal.go  what intake asks: does a record name something erased; tombstones
//	strip.go       records of others, republished without erased names or features
//	request.go     the records of requests
package withdrawal

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/scan"
	"lethe/deletions/search"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/normalise"
)

// Options are what Records needs.
type Options struct {
	Ledger *deletions.Ledger
	Secret lethe.Secret
	// Names is the rule of names in records.
	Names normalise.Rule
	Bus   search.Bus
	// Now is the present time.
	Now func() time.Time
	// HandOver publishes entries for standbys, before something is removed from which they could derive these.
	HandOver func(ctx context.Context, changed []deletions.Entry) error
}

// Records keeps records of what is erased out of the topics. It is for one goroutine.
type Records struct {
	o Options
	// named are the records whose keys the graphs knew, by request.
	named map[string][]NamedRecord
	// scanner is nil after a change of what is erased.
	scanner *scan.Scanner
	// underWay has the offset of the last replaced record, by place, until its replacement is read.
	underWay map[place]int64
	// rolls counts the markers still to follow a withdrawal; rolled is the time of the last.
	rolls  int
	rolled time.Time
}

// New returns a Records.
func New(o Options) *Records {
	return &Records{o: o, named: make(map[string][]NamedRecord), underWay: make(map[place]int64)}
}

// Changed says that something else is erased than before.
func (r *Records) Changed() { r.scanner = nil }

// Names reports whether a record contains something erased. A refused record is checked too, since a dead letter
// would keep its bytes.
func (r *Records) Names(rec ingest.Record) (bool, error) {
	if r.scanner == nil {
		var prints []scan.Fingerprint
		_, err := r.o.Ledger.Where(func(e *deletions.Entry) bool {
			if e.Suppresses() {
				prints = append(prints, e.Progress.Fingerprints...)
			}
			return false
		})
		if err != nil {
			return false, err
		}
		if r.scanner, err = scan.NewRecordScanner(r.o.Secret, r.o.Names, prints); err != nil {
			return false, err
		}
	}
	own := func(h ingest.Header) bool { return h.Key == search.WithdrawnBy }
	if rec.Tombstone() && slices.ContainsFunc(rec.Headers, own) {
		// It withdraws what is withdrawn; another tombstone would come after the search.
		rec.Key = nil
	}
	return len(search.Hits(r.scanner, rec)) > 0, nil
}

// Withdraw tombstones records of a batch. One with a later record of its key is left alone: compaction removes it,
// and a tombstone would remove the later one.
func (r *Records) Withdraw(ctx context.Context, batch bus.Batch, positions []int) error {
	if err := r.recordDropped(ctx, batch, positions); err != nil {
		return err
	}
	var tombstones []ingest.Outgoing
	for _, at := range positions {
		if key := batch.Records[at].Key; key != nil && isLast(batch, at) {
			tombstones = append(tombstones, ingest.Outgoing{
				Key: bytes.Clone(key), Pinned: true, Partition: batch.Source.Partition,
			})
		}
	}
	return r.write(ctx, batch.Source.Topic, tombstones)
}

// isLast reports whether a batch has no later record of a record's key.
func isLast(batch bus.Batch, at int) bool {
	return !slices.ContainsFunc(batch.Records[at+1:], func(later ingest.Record) bool {
		return bytes.Equal(later.Key, batch.Records[at].Key)
	})
}

const (
	// laterRolls is how many markers follow a withdrawal: Kafka rolls a segment only at a write after segment.ms, and
	// drops tombstones in a later pass. They are forgotten at a restart; any later write has the same effect.
	laterRolls    = 3
	laterInterval = bus.CleaningLag + time.Second
)

// write writes tombstones, or records that replace others, and a marker behind them, as the newest record of a
// partition is not compacted. The marker on erasures.v1 wakes an embedded broker's cleaner.
func (r *Records) write(ctx context.Context, topic bus.Topic, records []ingest.Outgoing) error {
	if len(records) == 0 {
		return nil
	}
	if err := r.o.Bus.Write(ctx, topic, records); err != nil {
		return fmt.Errorf("withdraw %d records: %w", len(records), err)
	}
	if err := r.o.Bus.RollMarkers(ctx, slices.Compact([]bus.Topic{topic, bus.Erasures})...); err != nil {
		return err
	}
	r.rolls, r.rolled = laterRolls, r.o.Now()
	return nil
}

// Tick writes a marker that is due.
func (r *Records) Tick(ctx context.Context) error {
	if r.rolls == 0 || r.o.Now().Sub(r.rolled) < laterInterval {
		return nil
	}
	r.rolls, r.rolled = r.rolls-1, r.o.Now()
	return r.o.Bus.RollMarkers(ctx, bus.Transactions, bus.Labels, bus.Erasures)
}
