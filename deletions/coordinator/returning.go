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

// Erased records may come again: a replay, a late label, a broken record that names one. They are dropped, not
// dead-lettered, and tombstoned.

// Erased keeps erased records out of lethe's topics.
type Erased struct {
	ledger *deletions.Ledger
	secret lethe.Secret
	// names is the rule of names in records.
	names normalise.Rule
	bus   Bus
	out   *outbox
	// named are the records whose keys the graphs knew, by request.
	named map[string][]NamedRecord
	// scanner is nil after a change of what is erased.
	scanner *scan.Scanner
	// underWay has the offset of the last replaced record, by place, until its replacement is read.
	underWay map[place]int64
}

func (n *Erased) forget() { n.scanner = nil }

// Names reports whether a record contains something erased. A refused record is checked too, since a dead letter
// would keep its bytes.
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
		// It withdraws what is withdrawn; another tombstone would come after the search.
		rec.Key = nil
	}
	return len(hitsIn(n.scanner, rec)) > 0, nil
}

// hitsIn searches every part of a record, raw and decoded. Another transaction's features do not count.
func hitsIn(scanner *scan.Scanner, rec ingest.Record) []scan.Hit {
	hits := scanner.MatchRecord(rec.Key, rec.Parts()...)
	if ofAnother(rec, hits) {
		return nil
	}
	return hits
}

// Withdraw tombstones records of a batch. One with a later record of its key is left alone: compaction removes it,
// and a tombstone would remove the later one.
func (n *Erased) Withdraw(ctx context.Context, batch bus.Batch, positions []int) error {
	if err := n.recordDropped(ctx, batch, positions); err != nil {
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

// remains are the records found in some topics.
type remains struct {
	// tombstones are to be written by topic, or the records' replacements.
	tombstones map[bus.Topic][]ingest.Outgoing
	// by are the fingerprints found, by record.
	by []map[scan.MAC]bool
	// ofOthers are those of by of other transactions' records, which are republished.
	ofOthers []map[scan.MAC]bool
}

// of counts the records with one of the fingerprints.
func (r remains) of(prints []scan.Fingerprint) int { return holding(r.by, prints) }

func holding(list []map[scan.MAC]bool, prints []scan.Fingerprint) (records int) {
	for _, by := range list {
		if slices.ContainsFunc(prints, func(f scan.Fingerprint) bool { return by[f.MAC] }) {
			records++
		}
	}
	return records
}

// locate finds the records to be withdrawn, in another goroutine. It is not paced, since the erasure waits for it.
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
		// Dead letters first: they tell which source records were refused.
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

// locateIn searches a topic. Only the newest record of a key and partition counts: compaction removes the others,
// and a tombstone would remove a newer one. Records tombstoned for these requests count while the log has them.
func (s Searcher) locateIn(ctx context.Context, search *Search, topic bus.Topic, r *remains, l *located) error {
	newest, meanwhile := make(map[partitionKey]found), &l.rolls
	meanwhile.s = s
	take := func(rec ingest.Record) error {
		if err := meanwhile.roll(ctx); err != nil {
			return err
		}
		if rec.Key == nil { // compaction removes it, and no tombstone can
			l.looked.mark(topic, rec, false)
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
			l.looked.mark(topic, rec, false)
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
				l.addRefused(rec)
			}
		}
		l.looked.mark(topic, rec, len(hits) == 0)
		return ctx.Err()
	}
	var err error
	if s.Log != nil {
		err = s.Log.EachSegment(ctx, topic, func(segment Segment) error { return segment.Records(take) })
	}
	if s.Log == nil || errors.Is(err, bus.ErrCorrupt) {
		// Records around the damage are to be withdrawn.
		clear(newest)
		err = s.Bus.ReadEvery(ctx, topic, take, func(gap *bus.Gap) {
			l.unreadable[topic] = append(l.unreadable[topic], unreadable(gap))
		})
	}
	r.add(topic, newest, search.prints)
	return err
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

// early reports whether intake must see a record first and will then remove it: one to be republished, as intake
// decides whether it is refused, and one with an erased subject, whose transaction is then requested.
func (s *Search) early(rec ingest.Record, hits []scan.Hit, instead *ingest.Outgoing) bool {
	if rec.Offset < s.taken[rec.Partition] {
		return false
	}
	ofSubject := func(h scan.Hit) bool { return h.Kind == scan.KindSubject }
	return instead != nil || slices.ContainsFunc(hits, ofSubject)
}

// add adds the findings of a topic in log order.
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
		n.addUnderWay(topic, list)
	}
	return nil
}

// Another transaction may have the same features as an erased one. They are its own and do not count.

func isFeatures(k scan.Kind) bool { return k == scan.KindFeatures || k == scan.KindFeaturesText }

// ofAnother reports whether all hits are features in another transaction's intact record.
func ofAnother(rec ingest.Record, hits []scan.Hit) bool {
	if len(hits) == 0 || slices.ContainsFunc(hits, func(h scan.Hit) bool { return !isFeatures(h.Kind) }) {
		return false
	}
	var tx struct {
		ID lethe.TransactionID `json:"id"`
	}
	return json.Unmarshal(rec.Value, &tx) == nil && tx.ID != "" && string(rec.Key) == string(tx.ID)
}
