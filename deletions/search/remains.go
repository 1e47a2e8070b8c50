package search

import (
	"cmp"
	"maps"
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/normalise"
)

// Located are the records to be tombstoned or republished.
type Located struct {
	Predictions, Reasons, Sources, Letters Remains
	// Looked are the records that were searched.
	Looked Looked
	// Late are source records refused as late.
	Late []ingest.Record

	unreadable map[bus.Topic][]deletions.UnreadableBatch
}

// Remains are the records found in some topics.
type Remains struct {
	// Tombstones are to be written by topic, or the records' replacements.
	Tombstones map[bus.Topic][]ingest.Outgoing
	// By are the fingerprints found, by record.
	By []map[scan.MAC]bool
	// OfOthers are those of By of other transactions' records, which are republished.
	OfOthers []map[scan.MAC]bool
}

// Count counts the records with one of the fingerprints.
func Count(by []map[scan.MAC]bool, prints []scan.Fingerprint) (records int) {
	for _, one := range by {
		if slices.ContainsFunc(prints, func(f scan.Fingerprint) bool { return one[f.MAC] }) {
			records++
		}
	}
	return records
}

// partitionKey identifies records that replace each other.
type partitionKey struct {
	partition int
	key       string
	// uncommitted is 1 + offset of an uncommitted record, which replaces none; else 0.
	uncommitted int64
}

// found is a record with hits. It is settled if it needs no tombstone: tombstoned, removed when taken, or aborted.
type found struct {
	offset  int64
	hits    []scan.Hit
	settled bool
	// instead replaces the record; nil for a tombstone.
	instead *ingest.Outgoing
}

// add adds the findings of a topic in log order.
func (r *Remains) add(topic bus.Topic, newest map[partitionKey]found, prints []scan.Fingerprint) {
	order := slices.SortedFunc(maps.Keys(newest), func(a, b partitionKey) int {
		return cmp.Or(cmp.Compare(a.partition, b.partition), cmp.Compare(newest[a].offset, newest[b].offset))
	})
	for _, at := range order {
		f := newest[at]
		switch {
		case f.settled:
		case f.instead != nil:
			r.Tombstones[topic] = append(r.Tombstones[topic], *f.instead)
		default:
			r.Tombstones[topic] = append(r.Tombstones[topic], ingest.Outgoing{
				Key: []byte(at.key), Pinned: true, Partition: at.partition,
			})
		}
		by := make(map[scan.MAC]bool)
		for _, h := range f.hits {
			by[prints[h.Fingerprint].MAC] = true
		}
		r.By = append(r.By, by)
		if f.instead != nil && topic != bus.DeadLetters && namesTarget(f.hits) {
			r.OfOthers = append(r.OfOthers, by)
		}
	}
}

// HeldUp returns the requests, by index, with a target's key in a partition that has an unreadable batch, each with one
// such batch. A key with several spellings may be in any partition. Topics without such keys count in the final search.
func (l *Located) HeldUp(
	requests [][]lethe.Target, names normalise.Rule, partitions func(bus.Topic) (int, error),
) (map[int]UnreadableAt, error) {
	out := make(map[int]UnreadableAt)
	for _, topic := range keyed() {
		if len(l.unreadable[topic]) == 0 {
			continue
		}
		n, err := partitions(topic)
		if err != nil {
			return nil, err
		}
		for i, targets := range requests {
			for _, u := range l.unreadable[topic] {
				mayHold := func(t lethe.Target) bool {
					return t.Kind == lethe.SubjectTarget || slices.ContainsFunc(keysOf(t, topic), func(key []byte) bool {
						return names.Varies(string(key)) || bus.PartitionOf(key, n) == u.Partition
					})
				}
				if slices.ContainsFunc(targets, mayHold) {
					out[i] = UnreadableAt{topic, u}
				}
			}
		}
	}
	return out, nil
}
