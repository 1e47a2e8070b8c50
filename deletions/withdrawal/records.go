package withdrawal

import (
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

// Options are the dependencies of Records.
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

// Records keeps records of erased targets out of the topics. It is for one goroutine.
type Records struct {
	o Options
	// named are the records whose keys the graphs knew, by request.
	named map[string][]NamedRecord
	// scanner is nil after a change of the targets.
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

// Changed must be called after a change of the targets.
func (r *Records) Changed() { r.scanner = nil }

// NamedRecord is a record by topic and key, in any partition.
type NamedRecord struct {
	Topic bus.Topic
	Key   string
}

// place is a key of a partition of a topic.
type place struct {
	topic     bus.Topic
	partition int
	key       string
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
