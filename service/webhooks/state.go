package webhooks

import (
	"fmt"
	"slices"
	"time"

	"lethe/ingest/bus"
	"lethe/internal/statefile"
)

const (
	stateFormat = "lethe-webhooks/1"
	// mostUndelivered bounds what is remembered of alerts that were not delivered: the oldest are
	// forgotten first.
	mostUndelivered = 10_000
	// positionsApart is how far reading goes on at most without its position on disk: what is read again
	// after a crash holds no alert that is settled, for those are noted at once.
	positionsApart = 1000
)

// state is what is on disk: positions in predictions.v1, by partition.
type state struct {
	Format string `json:"format"`
	// Next are those up to which everything is dealt with.
	Next []int64 `json:"next"`
	// Undelivered are alerts before them that are still to be sent, in the order in which they were
	// left.
	Undelivered []undelivered `json:"undelivered"`

	file *statefile.File
	// noted are the positions that are on disk.
	noted map[int]int64
}

// undelivered is the place of an alert that was not taken, and what came of the last try.
type undelivered struct {
	Partition int       `json:"partition"`
	Offset    int64     `json:"offset"`
	Tries     int       `json:"tries"`
	Status    int       `json:"status"`
	At        time.Time `json:"at"`
}

// readState reads the file; found is false if there is none.
func readState(path string) (s state, found bool, err error) {
	s = state{Format: stateFormat, file: statefile.At(path, stateFormat), noted: make(map[int]int64)}
	if found, err = s.file.Read(&s); err != nil {
		return s, false, fmt.Errorf("state of webhooks: %w (without the file, alerts are told from now on)", err)
	}
	s.note()
	return s, found, nil
}

// note notes that the positions are on disk.
func (s *state) note() {
	for p, next := range s.Next {
		s.noted[p] = next
	}
}

func (s *state) write() error {
	err := s.file.Write(s)
	if err == nil {
		s.note()
	}
	return err
}

// positions are where reading begins: at what was not delivered, or behind it.
func (s *state) positions(partitions int) map[bus.TopicPartition]int64 {
	out := make(map[bus.TopicPartition]int64)
	for p := range partitions {
		if p >= len(s.Next) {
			s.Next = append(s.Next, 0) // a partition that is new
		}
		from := s.Next[p]
		for _, u := range s.Undelivered {
			if u.Partition == p {
				from = min(from, u.Offset)
			}
		}
		out[bus.TopicPartition{Topic: bus.Predictions, Partition: p}] = from
	}
	return out
}

// isDue reports whether the record at a place is to be looked at: it is new, or was not delivered.
func (s *state) isDue(partition int, offset int64) bool {
	return offset >= s.Next[partition] || slices.ContainsFunc(s.Undelivered, func(u undelivered) bool {
		return u.Partition == partition && u.Offset == offset
	})
}

// settle notes that a place is dealt with, and takes it off those that were not delivered.
func (s *state) settle(partition int, offset int64) {
	s.Next[partition] = max(s.Next[partition], offset+1)
	s.Undelivered = slices.DeleteFunc(s.Undelivered, func(u undelivered) bool {
		return u.Partition == partition && u.Offset == offset
	})
}

// pass notes that a partition was read up to a position, and says whether that is to be on disk now.
// Where records before it were not met, later ones have taken their place, or they were erased.
func (s *state) pass(partition int, from, next int64, met map[int64]bool) (toWrite bool) {
	before := len(s.Undelivered)
	s.Next[partition] = max(s.Next[partition], next)
	s.Undelivered = slices.DeleteFunc(s.Undelivered, func(u undelivered) bool {
		return u.Partition == partition && u.Offset >= from && u.Offset < next && !met[u.Offset]
	})
	return len(s.Undelivered) != before || s.Next[partition]-s.noted[partition] >= positionsApart
}

// leave remembers an alert that was not delivered.
func (s *state) leave(u undelivered) (forgotten bool) {
	s.settle(u.Partition, u.Offset)
	s.Undelivered = append(s.Undelivered, u)
	if forgotten = len(s.Undelivered) > mostUndelivered; forgotten {
		s.Undelivered = s.Undelivered[1:]
	}
	return forgotten
}
