package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lethe/deletions"
	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// WithdrawnBy is a tombstone's header with the request that it withdraws a record for.
const WithdrawnBy = "lethe-withdrawn-by"

// locating is a search for records to be withdrawn.
type locating struct {
	Searcher
	*Search
	*Located
	// refused are the source records of the dead letters found.
	refused map[sourcePlace]bool
	rolls   rolls
}

// sourcePlace is a position in transactions.v1 or labels.v1.
type sourcePlace struct {
	topic bus.Topic
	logPlace
}

func sourcePlaceOf(rec ingest.Record) sourcePlace {
	return sourcePlace{SourceOf(rec), logPlace{rec.Partition, rec.Offset}}
}

// SourceOf is transactions.v1 or labels.v1, without a prefix.
func SourceOf(rec ingest.Record) bus.Topic {
	if strings.HasSuffix(rec.Topic, string(bus.Labels)) {
		return bus.Labels
	}
	return bus.Transactions
}

// locate finds the records to be withdrawn. It is not paced, since the erasure waits for it.
func (s Searcher) locate(ctx context.Context, search *Search) Verdict {
	l := locating{
		Searcher: s, Search: search, refused: make(map[sourcePlace]bool), rolls: rolls{s: s},
		Located: &Located{
			Looked: lookedFor(search.Prints), unreadable: make(map[bus.Topic][]deletions.UnreadableBatch),
		},
	}
	v := Verdict{RequestIDs: search.RequestIDs, Located: l.Located}
	for _, part := range []struct {
		to     *Remains
		topics []bus.Topic
	}{
		{&l.Predictions, []bus.Topic{bus.Predictions}},
		{&l.Reasons, []bus.Topic{bus.Reasons}},
		// Dead letters first: they identify rejected source records.
		{&l.Letters, []bus.Topic{bus.DeadLetters}},
		{&l.Sources, []bus.Topic{bus.Transactions, bus.Labels}},
	} {
		part.to.Tombstones = make(map[bus.Topic][]ingest.Outgoing)
		for _, topic := range part.topics {
			if v.Err = l.in(ctx, topic, part.to); v.Err != nil {
				v.Err = fmt.Errorf("look through %s: %w", topic, v.Err)
				return v
			}
		}
	}
	return v
}

// in searches a topic. Only the newest record of a key and partition counts: compaction removes the others, and a
// tombstone would remove a newer one. Records tombstoned for these requests count while the log has them.
func (l *locating) in(ctx context.Context, topic bus.Topic, r *Remains) error {
	newest := make(map[partitionKey]found)
	var err error
	if l.Log != nil {
		together := together{scanner: l.Scanner, take: func(rec ingest.Record, hits []scan.Hit) error {
			l.take(topic, rec, hits, newest)
			return ctx.Err()
		}}
		err = l.Log.EachSegment(ctx, topic, together.segment)
	}
	if l.Log == nil || errors.Is(err, bus.ErrCorrupt) {
		// Records around the damage are to be withdrawn.
		clear(newest)
		err = l.Bus.ReadEvery(ctx, topic, func(rec ingest.Record) error {
			l.take(topic, rec, Hits(l.Scanner, rec), newest)
			return errors.Join(ctx.Err(), l.rolls.roll(ctx))
		}, func(gap *bus.Gap) {
			l.unreadable[topic] = append(l.unreadable[topic], unreadable(gap))
		})
	}
	r.add(topic, newest, l.Prints)
	return err
}

// take remembers a record with hits if it is the newest of its key.
func (l *locating) take(topic bus.Topic, rec ingest.Record, hits []scan.Hit, newest map[partitionKey]found) {
	if rec.Key == nil { // compaction removes it, and no tombstone can
		l.Located.Looked.mark(topic, rec, false)
		return
	}
	if len(hits) == 0 && len(newest) == 0 { // the common case
		l.Located.Looked.mark(topic, rec, !rec.Tombstone())
		return
	}
	at := partitionKey{partition: rec.Partition, key: string(rec.Key)}
	if rec.Uncommitted != "" {
		at.uncommitted = 1 + rec.Offset // it is no later record of its key
	}
	before, held := newest[at]
	delete(newest, at)
	if rec.Tombstone() {
		if before.settled = true; held && l.withdraws(rec) {
			newest[at] = before
		}
		l.Located.Looked.mark(topic, rec, false)
		return
	}
	if len(hits) > 0 {
		instead := l.redacted(topic, rec, hits)
		newest[at] = found{
			offset: rec.Offset, hits: hits, instead: instead,
			settled: rec.Uncommitted != "" || topic == bus.Transactions && l.early(rec, hits, instead),
		}
		if topic == bus.DeadLetters {
			l.addRefused(rec)
		}
	}
	l.Located.Looked.mark(topic, rec, len(hits) == 0)
}

// withdraws reports whether a tombstone was written for these requests.
func (l *locating) withdraws(rec ingest.Record) bool {
	return slices.ContainsFunc(rec.Headers, func(h ingest.Header) bool {
		return h.Key == WithdrawnBy && slices.Contains(l.RequestIDs, string(h.Value))
	})
}

// early reports whether intake must see a record first and will then remove it: one to be republished, because intake
// decides whether it is rejected, and one with an erased subject, whose transaction is then requested.
func (l *locating) early(rec ingest.Record, hits []scan.Hit, instead *ingest.Outgoing) bool {
	return rec.Offset >= l.Taken[rec.Partition] && (instead != nil || slices.ContainsFunc(hits, ofSubject))
}

// addRefused records the source record of a dead letter.
func (l *locating) addRefused(letter ingest.Record) {
	read, err := ingest.ReadDeadLetter(letter)
	refused := read.Record
	if err != nil || !strings.HasSuffix(refused.Topic, string(SourceOf(refused))) {
		return
	}
	l.refused[sourcePlaceOf(refused)] = true
	if read.Refusal.Reason == ingest.Late {
		l.Late = append(l.Late, ingest.Record{Key: refused.Key, Value: letter.Value}.Clone())
	}
}

// redacted returns the replacement of a record with erased features, or of another transaction's record that names a
// target: a record with zeros, so that compaction removes the old one. It is nil if the record must be tombstoned: it
// contains other erased data, it is broken, or too large for its topic.
func (l *locating) redacted(topic bus.Topic, rec ingest.Record, hits []scan.Hit) *ingest.Outgoing {
	if topic != bus.Transactions && topic != bus.Labels && topic != bus.DeadLetters {
		return nil
	}
	rec = rec.Clone()                                 // the segment that it is part of makes room for the next
	_, refused := ingest.IsRepublished(l.Secret, rec) // it replaces one that was refused
	refused = refused || l.refused[sourcePlaceOf(rec)]
	var headers []ingest.Header
	value, changed := ingest.Redacted(rec.Value, l.Scanner.RedactedOf)
	switch rec.Value = value; {
	case topic == bus.DeadLetters && (namesTarget(hits) || !changed):
		return nil
	case topic == bus.DeadLetters:
	case namesTarget(hits):
		var ok bool
		if rec, ok = Stripped(l.Scanner, rec); !ok {
			return nil
		}
		headers = rec.Headers
	case !changed:
		return nil
	}
	out := ingest.Republished(l.Secret, rec, rec.Value, refused, headers...)
	if topic == bus.DeadLetters {
		out.Headers = rec.Headers // they have the reason for the rejection
	}
	after := ingest.Record{Key: out.Key, Value: out.Value, Headers: out.Headers}
	if !bus.Takes(topic, out) || len(Hits(l.Scanner, after)) > 0 {
		return nil
	}
	return &out
}
