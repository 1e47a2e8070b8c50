package wire

import (
	"encoding/json"
	"fmt"
	"strings"

	"lethe/deletions/ledgercopy"
	"lethe/ingest"
)

const (
	barrierFormat = "lethe-barrier/1"
	barrierKey    = "!barrier"
)

// Led says who leads a role, and from where on what those wrote who led before is stale, by <topic>/<partition>. Its
// zero value tells of nobody.
type Led struct {
	By   Owner
	From map[string]int64
}

// Precedes reports whether who leads began before a record of a topic of lethe's own was written.
func (l Led) Precedes(topic string, partition int, offset int64) bool {
	if len(l.From) == 0 {
		return false
	}
	from, told := l.From[fmt.Sprintf("%s/%d", topic, partition)]
	return told && offset >= from
}

// LeadsGraphs is the role whose leader carries out erasures.
const LeadsGraphs = "graphs"

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
