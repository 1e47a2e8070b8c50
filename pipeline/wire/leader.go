package wire

import (
	"slices"
	"strings"

	"lethe/deletions/ledgercopy"
	"lethe/ingest"
	"lethe/ingest/bus"
)

func barriers() kind { return kind{"!barrier", "lethe-barrier/1", "barrier"} }

// Leaders are the epochs of all roles. They identify late records of fenced leaders. The zero value and nil have no
// epoch.
type Leaders struct {
	// epochs are by role, oldest first.
	epochs map[string][]ledFrom
	// newest is the newest epoch of a record, by <topic>/<partition>.
	newest map[string]int64
}

// ledFrom is an epoch, and the end offsets of topics when it began, by <topic>/<partition>.
type ledFrom struct {
	epoch int64
	ends  map[string]int64
}

// Began adds an epoch of a role, unless it is known.
func (l *Leaders) Began(role string, epoch int64, ends map[string]int64) {
	if of := l.epochs[role]; len(of) > 0 && of[len(of)-1].epoch >= epoch {
		return
	}
	if l.epochs == nil {
		l.epochs = make(map[string][]ledFrom)
	}
	l.epochs[role] = append(l.epochs[role], ledFrom{epoch, ends})
}

// leads returns the role whose leader writes a topic.
func leads(t bus.Topic) string {
	if t == bus.Predictions {
		return LeadsScore
	}
	return LeadsGraphs
}

// Stale reports whether a record is of an older epoch than the newest one that had begun, or has a record, before it.
// The records of a partition must be given in their order. (A record's own topic has the deployment's prefix.)
func (l *Leaders) Stale(t bus.Topic, rec ingest.Record) bool {
	by, found := OwnerOf(rec)
	if l == nil || !found || rec.Unauthenticated != "" {
		return false
	}
	at := bus.TopicPartition{Topic: t, Partition: rec.Partition}.String()
	newest := l.newest[at]
	for _, e := range slices.Backward(l.epochs[leads(t)]) {
		if e.epoch <= newest || e.epoch <= by.Generation {
			break
		}
		if end, found := e.ends[at]; found && rec.Offset >= end {
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

// The roles whose leaders write topics alone. The leader of graphs carries out erasures.
const (
	LeadsGraphs = "graphs"
	LeadsScore  = "score"
)

// isLeaders reports whether only the leader of graphs writes records of control.v1 with a key.
func isLeaders(key []byte) bool {
	return strings.HasPrefix(string(key), commandPrefix) || ledgercopy.IsCopy(key)
}

// Barrier is a record of control.v1 that its writer reads back: then everything before it has been read.
type Barrier struct {
	Format string `json:"format"`
	Name   string `json:"name"`
}

// Record returns the barrier as a record of control.v1.
func (b Barrier) Record() (ingest.Outgoing, error) {
	b.Format = barriers().format
	return barriers().record("", b)
}

// ParseBarrier decodes a record of control.v1, if it is a barrier.
func ParseBarrier(rec ingest.Record) (b Barrier, found bool, err error) {
	return parse(barriers(), rec, func(_ *Barrier, name string) error {
		if name != "" {
			return errKey
		}
		return nil
	})
}
