package wire

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"lethe/deletions/ledgercopy"
	"lethe/ingest"
	"lethe/ingest/bus"
)

const (
	barrierFormat = "lethe-barrier/1"
	barrierKey    = "!barrier"
)

// Leaders are the epochs of all roles, and tell the records that a fenced leader wrote late. A new value, and nil, know
// of no epoch.
type Leaders struct {
	// epochs are those that have begun, by role, oldest first.
	epochs map[string][]ledFrom
	// newest is the newest epoch of which a record was read, by <topic>/<partition>.
	newest map[string]int64
}

// ledFrom is an epoch, and where topics ended as it began, by <topic>/<partition>.
type ledFrom struct {
	epoch int64
	ends  map[string]int64
}

// Began adds an epoch of a role. One that is known changes nothing.
func (l *Leaders) Began(role string, epoch int64, ends map[string]int64) {
	if of := l.epochs[role]; len(of) > 0 && of[len(of)-1].epoch >= epoch {
		return
	}
	if l.epochs == nil {
		l.epochs = make(map[string][]ledFrom)
	}
	l.epochs[role] = append(l.epochs[role], ledFrom{epoch, ends})
}

// leads is the role whose leader writes a topic: the leader of graphs writes all but predictions.
func leads(t bus.Topic) string {
	if t == bus.Predictions {
		return LeadsScore
	}
	return LeadsGraphs
}

// Stale reports whether a record of a topic is of an epoch before the one in which it was written: that one had begun,
// or one of its records stands before. It is given the records of a partition in their order. (A record names its topic
// with the deployment's prefix.)
func (l *Leaders) Stale(t bus.Topic, rec ingest.Record) bool {
	by, tells := OwnerOf(rec)
	if l == nil || !tells || rec.Unproven != "" {
		return false
	}
	at := bus.TopicPartition{Topic: t, Partition: rec.Partition}.String()
	newest := l.newest[at]
	for _, e := range slices.Backward(l.epochs[leads(t)]) {
		if e.epoch <= newest || e.epoch <= by.Generation {
			break
		}
		if end, told := e.ends[at]; told && rec.Offset >= end {
			newest = e.epoch
		}
	}
	if by.Generation < newest {
		return true
	}
	if l.newest == nil {
		l.newest = make(map[string]int64)
	}
	l.newest[at] = by.Generation
	return false
}

// The roles whose leaders write topics that nobody else writes. That of graphs carries out erasures.
const (
	LeadsGraphs = "graphs"
	LeadsScore  = "score"
)

// isLeaders reports whether the leader of graphs alone writes records of control.v1 with such a key.
func isLeaders(key []byte) bool {
	return strings.HasPrefix(string(key), commandPrefix) || ledgercopy.IsCopy(key)
}

// Barrier is written to control.v1 by who wants to know everything that was written there
// before: when it comes back, that has been read.
type Barrier struct {
	Format string `json:"format"`
	// Name tells it from others.
	Name string `json:"name"`
}

// Record returns the barrier as a record of control.v1.
func (b Barrier) Record() (ingest.Outgoing, error) {
	b.Format = barrierFormat
	value, err := json.Marshal(b)
	if err != nil {
		return ingest.Outgoing{}, fmt.Errorf("barrier: %w", err)
	}
	return ingest.Outgoing{Key: []byte(barrierKey), Value: value}, nil
}

// ParseBarrier reads a record of control.v1; it says whether there is a barrier in it.
func ParseBarrier(rec ingest.Record) (b Barrier, found bool, err error) {
	if string(rec.Key) != barrierKey || rec.Tombstone() {
		return b, false, nil
	}
	if err = proven(rec); err == nil {
		err = json.Unmarshal(rec.Value, &b)
	}
	if err == nil && b.Format != barrierFormat {
		err = fmt.Errorf("format %.40q, want %q", b.Format, barrierFormat)
	}
	if err != nil {
		return b, false, fmt.Errorf("%s/%d@%d: barrier: %w", rec.Topic, rec.Partition, rec.Offset, err)
	}
	return b, true, nil
}
