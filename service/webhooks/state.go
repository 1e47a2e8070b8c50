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
	// mostUndelivered bounds the stored undelivered alerts: the oldest are dropped first.
	mostUndelivered = 10_000
	// positionsApart is how many records may be read before the position is persisted: the records
	// read again after a crash contain no completed alert, because those are persisted at once.
	positionsApart = 1000
)

// state is the stored state: positions in predictions.v1, by partition.
type state struct {
	Format string `json:"format"`
	// Next are the positions up to which everything is processed.
	Next []int64 `json:"next"`
	// Undelivered are earlier alerts that have yet to be sent, in the order in which they were
	// given up.
	Undelivered []undelivered `json:"undelivered"`

	file *statefile.File
	// persisted are the persisted positions.
	persisted map[int]int64
}

// undelivered is the position of an alert that was not accepted, and the result of the last try.
type undelivered struct {
	Partition int       `json:"partition"`
	Offset    int64     `json:"offset"`
	Tries     int       `json:"tries"`
	Status    int       `json:"status"`
	At        time.Time `json:"at"`
}

// readState reads the file; found is false if there is none.
func readState(path string) (s state, found bool, err error) {
	s = state{Format: stateFormat, file: statefile.At(path, stateFormat), persisted: make(map[int]int64)}
	if found, err = s.file.Read(&s); err != nil {
		return s, false, fmt.Errorf("state of webhooks: %w (without the file, only alerts from now on are posted)", err)
	}
	s.note()
	return s, found, nil
}

// note marks the positions as persisted.
func (s *state) note() {
	for p, next := range s.Next {
		s.persisted[p] = next
	}
}

func (s *state) write() error {
	err := s.file.Write(s)
	if err == nil {
		s.note()
	}
	return err
}

// positions are where reading begins: at the first undelivered alert, or after the processed
// records.
func (s *state) positions(partitions int) map[bus.TopicPartition]int64 {
	out := make(map[bus.TopicPartition]int64)
	for p := range partitions {
		if p >= len(s.Next) {
			s.Next = append(s.Next, 0) // a new partition
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

// isDue reports whether the record at a position has to be processed: it is new, or was not
// delivered.
func (s *state) isDue(partition int, offset int64) bool {
	return offset >= s.Next[partition] || slices.ContainsFunc(s.Undelivered, func(u undelivered) bool {
		return u.Partition == partition && u.Offset == offset
	})
}

// settle marks a position as processed, and removes it from the undelivered ones.
func (s *state) settle(partition int, offset int64) {
	s.Next[partition] = max(s.Next[partition], offset+1)
	s.Undelivered = slices.DeleteFunc(s.Undelivered, func(u undelivered) bool {
		return u.Partition == partition && u.Offset == offset
	})
}

// pass records that a partition was read up to a position, and reports whether that should be
// persisted now. Undelivered records that were not found have been replaced by later ones or erased.
func (s *state) pass(partition int, from, next int64, met map[int64]bool) (toWrite bool) {
	before := len(s.Undelivered)
	s.Next[partition] = max(s.Next[partition], next)
	s.Undelivered = slices.DeleteFunc(s.Undelivered, func(u undelivered) bool {
		return u.Partition == partition && u.Offset >= from && u.Offset < next && !met[u.Offset]
	})
	return len(s.Undelivered) != before || s.Next[partition]-s.persisted[partition] >= positionsApart
}

// leave stores an alert that was not delivered.
func (s *state) leave(u undelivered) (forgotten bool) {
	s.settle(u.Partition, u.Offset)
	s.Undelivered = append(s.Undelivered, u)
	if forgotten = len(s.Undelivered) > mostUndelivered; forgotten {
		s.Undelivered = s.Undelivered[1:]
	}
	return forgotten
}
