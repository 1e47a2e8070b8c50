package search

import (
	"slices"

	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// Looked are records found clean for some fingerprints. Offsets never change, so a later search can skip them.
type Looked struct {
	prints map[scan.MAC]bool
	// through is the last offset searched; except are those before that were not, or hold something.
	through map[bus.TopicPartition]int64
	except  map[bus.TopicPartition]map[int64]bool
}

func lookedFor(prints []scan.Fingerprint) Looked {
	l := Looked{
		make(map[scan.MAC]bool), make(map[bus.TopicPartition]int64), make(map[bus.TopicPartition]map[int64]bool),
	}
	for _, f := range prints {
		l.prints[f.MAC] = true
	}
	return l
}

// Serves reports whether all fingerprints were searched for.
func (l Looked) Serves(prints []scan.Fingerprint) bool {
	return !slices.ContainsFunc(prints, func(f scan.Fingerprint) bool { return !l.prints[f.MAC] })
}

// Behind returns the positions behind the searched records of a topic of original records, if it was searched.
func (l Looked) Behind(topic bus.Topic) (positions map[int]int64, known bool) {
	positions = l.End(topic)
	return positions, len(positions) > 0 && keepsOriginals(topic)
}

// End returns the positions behind the searched records of a topic.
func (l Looked) End(topic bus.Topic) map[int]int64 {
	positions := make(map[int]int64)
	for at, through := range l.through {
		if at.Topic == topic {
			positions[at.Partition] = through + 1
		}
	}
	return positions
}

// leftOf adds the findings of a topic to due.
func (l Looked) leftOf(topic bus.Topic, to due) {
	for at, offsets := range l.except {
		for offset := range offsets {
			if at.Topic == topic {
				to.mark(at, offset)
			}
		}
	}
}

// mark adds the next record of a partition.
func (l Looked) mark(topic bus.Topic, rec ingest.Record, clean bool) {
	at := bus.TopicPartition{Topic: topic, Partition: rec.Partition}
	l.through[at] = rec.Offset
	if clean {
		return
	}
	if l.except[at] == nil {
		l.except[at] = make(map[int64]bool)
	}
	l.except[at][rec.Offset] = true
}

// cleared reports whether a record is known to be clean. Uncommitted ones never are.
func (l Looked) cleared(topic bus.Topic, rec ingest.Record) bool {
	if rec.Uncommitted != "" {
		return false
	}
	at := bus.TopicPartition{Topic: topic, Partition: rec.Partition}
	through, found := l.through[at]
	return found && rec.Offset <= through && !l.except[at][rec.Offset]
}

// keepsOriginals reports whether a topic has producers' original records.
func keepsOriginals(t bus.Topic) bool {
	return t == bus.Transactions || t == bus.Labels || t == bus.Erasures || t == bus.DeadLetters
}
