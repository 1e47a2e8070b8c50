package coordinator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/normalise"
)

// What was erased may be sent again: a replay of the source, a late label, a
// record that is broken but names it. Such records are dropped, not kept as dead
// letters, and withdrawn from their topic, for lethe promises that no topic of
// its own holds them.

// Erased keeps whatever was erased so far out of lethe's topics.
type Erased struct {
	ledger *deletions.Ledger
	secret lethe.Secret
	// names is how records are read.
	names normalise.Rule
	bus   Bus
	out   *outbox
	// named are the records of requests that the graphs have told the keys of.
	named map[string][]NamedRecord
	// scanner is nil when what was erased has changed.
	scanner *scan.Scanner
	// underWay has the places where records were published again that were not read yet, and the offset of the record
	// that was replaced last: once its replacement is read, none before it is on its way.
	underWay map[place]int64
}

func (n *Erased) forget() { n.scanner = nil }

// Names reports whether a record holds something erased, anywhere in it. One that
// is to be refused is asked about: a dead letter would keep its bytes.
func (n *Erased) Names(rec ingest.Record) (bool, error) {
	if n.scanner == nil {
		var prints []scan.Fingerprint
		_, err := n.ledger.Where(func(e *deletions.Entry) bool {
			if e.Suppresses() {
				prints = append(prints, e.Progress.Fingerprints...)
			}
			return false
		})
		if err != nil {
			return false, err
		}
		if n.scanner, err = scan.NewRecordScanner(n.secret, n.names, prints); err != nil {
			return false, err
		}
	}
	if rec.Tombstone() && slices.ContainsFunc(rec.Headers, func(h ingest.Header) bool { return h.Key == withdrawnBy }) {
		// What it withdraws is withdrawn: a second one would come after what was searched meanwhile.
		rec.Key = nil
	}
	return len(hitsIn(n.scanner, rec)) > 0, nil
}

// hitsIn looks into every part of a record, by its bytes and by what they say. The
// features of another transaction do not count.
func hitsIn(scanner *scan.Scanner, rec ingest.Record) []scan.Hit {
	hits := scanner.MatchRecord(rec.Key, rec.Parts()...)
	if ofAnother(rec, hits) {
		return nil
	}
	return hits
}

// Withdraw deletes the records at some positions of a batch from their topic. A
// record is left alone if a later one of the batch has taken its key over:
// compaction will remove it then, and a tombstone would remove the later one too.
func (n *Erased) Withdraw(ctx context.Context, batch bus.Batch, positions []int) error {
	if err := n.noteDropped(ctx, batch, positions); err != nil {
		return fmt.Errorf("note what was dropped: %w", err)
	}
	var tombstones []ingest.Outgoing
	for _, at := range positions {
		key := batch.Records[at].Key
		later := func(rec ingest.Record) bool { return bytes.Equal(rec.Key, key) }
		if key == nil || slices.ContainsFunc(batch.Records[at+1:], later) {
			continue
		}
		tombstones = append(tombstones, ingest.Outgoing{
			Key: bytes.Clone(key), Pinned: true, Partition: batch.Source.Partition,
		})
	}
	return n.out.withdraw(ctx, batch.Source.Topic, tombstones)
}

// remains are the records of some topics that hold what is to be erased.
type remains struct {
	// tombstones withdraw them, by topic, or take their place without what is erased.
	tombstones map[bus.Topic][]ingest.Outgoing
	// by lists, for each record, the fingerprints by which it was found.
	by []map[scan.MAC]bool
	// ofOthers are those of by that are published again because they are of another transaction and name a target.
	ofOthers []map[scan.MAC]bool
}

// of counts the records that hold one of the fingerprints.
func (r remains) of(prints []scan.Fingerprint) int { return holding(r.by, prints) }

func holding(list []map[scan.MAC]bool, prints []scan.Fingerprint) (records int) {
	for _, by := range list {
		if slices.ContainsFunc(prints, func(f scan.Fingerprint) bool { return by[f.MAC] }) {
			records++
		}
	}
	return records
}

// locate looks for them. It runs beside the loop: topics are as long as the history. It
// takes a processor as long as it lasts, for the erasure waits for it.
func (s Searcher) locate(ctx context.Context, search *Search) Verdict {
	v := Verdict{requestIDs: search.requestIDs, located: &located{
		looked: lookedFor(search.prints), refused: make(map[sourcePlace]bool),
		unreadable: make(map[bus.Topic][]deletions.UnreadableBatch),
	}}
	for _, part := range []struct {
		to     *remains
		topics []bus.Topic
	}{
		{&v.located.predictions, []bus.Topic{bus.Predictions}},
		{&v.located.reasons, []bus.Topic{bus.Reasons}},
		// First the dead letters, which tell which of the sources were refused.
		{&v.located.letters, []bus.Topic{bus.DeadLetters}},
		{&v.located.sources, []bus.Topic{bus.Transactions, bus.Labels}},
	} {
		part.to.tombstones = make(map[bus.Topic][]ingest.Outgoing)
		for _, topic := range part.topics {
			if v.err = s.locateIn(ctx, search, topic, part.to, v.located); v.err != nil {
				v.err = fmt.Errorf("look through %s: %w", topic, v.err)
				return v
			}
		}
	}
	return v
}

// locateIn looks through a topic. Only the newest of a key in its partition counts:
// compaction removes the others, and if that one holds nothing, a tombstone would remove
// it too. One that was withdrawn for these requests already counts as long as the log has
// it.
func (s Searcher) locateIn(ctx context.Context, search *Search, topic bus.Topic, r *remains, l *located) error {
	newest, meanwhile := make(map[partitionKey]found), &l.rolls
	meanwhile.s = s
	take := func(rec ingest.Record) error {
		if err := meanwhile.roll(ctx); err != nil {
			return err
		}
		if rec.Key == nil { // compaction removes it, and no tombstone can
			l.looked.note(topic, rec, false)
			return nil
		}
		at := partitionKey{partition: rec.Partition, key: string(rec.Key)}
		if rec.Uncommitted != "" {
			at.uncommitted = 1 + rec.Offset // it is no later record of its key
		}
		before, held := newest[at]
		delete(newest, at)
		if rec.Tombstone() {
			if before.settled = true; held && search.withdrawnFor(rec) {
				newest[at] = before
			}
			l.looked.note(topic, rec, false)
			return nil
		}
		hits := hitsIn(search.scanner, rec)
		if len(hits) > 0 {
			instead := search.redacted(topic, rec, hits, l)
			newest[at] = found{
				offset: rec.Offset, hits: hits, instead: instead,
				settled: rec.Uncommitted != "" || topic == bus.Transactions && search.early(rec, hits, instead),
			}
			if topic == bus.DeadLetters {
				l.noteRefused(rec)
			}
		}
		l.looked.note(topic, rec, len(hits) == 0)
		return ctx.Err()
	}
	var err error
	if s.Log != nil {
		err = s.Log.EachSegment(ctx, topic, func(segment Segment) error { return segment.Records(take) })
	}
	if s.Log == nil || errors.Is(err, bus.ErrCorrupt) {
		// Around what is damaged there is something to withdraw.
		clear(newest)
		err = s.Bus.ReadEvery(ctx, topic, take, func(gap *bus.Gap) {
			l.unreadable[topic] = append(l.unreadable[topic], unreadable(gap))
		})
	}
	r.add(topic, newest, search.prints)
	return err
}

// partitionKey names records that replace each other in a log.
type partitionKey struct {
	partition int
	key       string
	// uncommitted is the position behind a record that is not committed, which replaces no other, else 0.
	uncommitted int64
}

// found is what was found in the record at an offset. It is settled if it was withdrawn already, will go as
// it is taken, or goes with its aborted transaction as the log is cleaned.
type found struct {
	offset  int64
	hits    []scan.Hit
	settled bool
	// instead is published under its key, nil for a tombstone.
	instead *ingest.Outgoing
}

// early reports whether a record has to be taken before it goes, and will go then: one that is
// to be published again, because whether it is refused shows as it is taken, and one that carries
// an erased subject, because what it brings is asked for then.
func (s *Search) early(rec ingest.Record, hits []scan.Hit, instead *ingest.Outgoing) bool {
	if rec.Offset < s.taken[rec.Partition] {
		return false
	}
	ofSubject := func(h scan.Hit) bool { return h.Kind == scan.KindSubject }
	return instead != nil || slices.ContainsFunc(hits, ofSubject)
}

// add takes what was found in a topic, in the order of its log.
func (r *remains) add(topic bus.Topic, newest map[partitionKey]found, prints []scan.Fingerprint) {
	order := slices.Collect(maps.Keys(newest))
	sort.Slice(order, func(i, j int) bool {
		a, b := order[i], order[j]
		return a.partition < b.partition || a.partition == b.partition && newest[a].offset < newest[b].offset
	})
	for _, at := range order {
		switch f := newest[at]; {
		case f.settled:
		case f.instead != nil:
			r.tombstones[topic] = append(r.tombstones[topic], *f.instead)
		default:
			r.tombstones[topic] = append(r.tombstones[topic], ingest.Outgoing{
				Key: []byte(at.key), Pinned: true, Partition: at.partition,
			})
		}
		by := make(map[scan.MAC]bool)
		for _, h := range newest[at].hits {
			by[prints[h.Fingerprint].MAC] = true
		}
		r.by = append(r.by, by)
		if f := newest[at]; f.instead != nil && topic != bus.DeadLetters && namesTarget(f.hits) {
			r.ofOthers = append(r.ofOthers, by)
		}
	}
}

// remove withdraws what was located.
func (n *Erased) remove(ctx context.Context, r remains, l looked) error {
	for _, topic := range bus.Topics() {
		if len(r.tombstones[topic]) == 0 {
			continue
		}
		list, err := n.stillDue(ctx, topic, r.tombstones[topic], l)
		if err == nil {
			err = n.bus.Write(ctx, topic, list)
		}
		if err != nil {
			return fmt.Errorf("withdraw records of %s: %w", topic, err)
		}
		n.noteUnderWay(topic, list)
	}
	return nil
}

// Another transaction may come with the very features of one that is erased. They are
// its own: its record is not to be withdrawn, and finding them says nothing about what
// is left of the erased one.

// isFeatures reports whether a form is one of features.
func isFeatures(k scan.Kind) bool { return k == scan.KindFeatures || k == scan.KindFeaturesText }

// ofAnother reports whether what was found in a record are but the features of another
// transaction, whose record is whole. All forms of the erased ids are searched for too.
func ofAnother(rec ingest.Record, hits []scan.Hit) bool {
	if len(hits) == 0 || slices.ContainsFunc(hits, func(h scan.Hit) bool { return !isFeatures(h.Kind) }) {
		return false
	}
	var tx struct {
		ID lethe.TransactionID `json:"id"`
	}
	return json.Unmarshal(rec.Value, &tx) == nil && tx.ID != "" && string(rec.Key) == string(tx.ID)
}
