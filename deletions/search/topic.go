package search

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"lethe/deletions"
	"lethe/deletions/receipt"
	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/ingest/bus"
)

func (u *underway) look(ctx context.Context) (*Findings, error) {
	all := newFindings()
	for _, topic := range bus.Topics() {
		if known := u.topics[topic]; known == nil || !known.Clean() {
			u.topics[topic] = newFindings()
			if err := u.topic(ctx, topic, u.topics[topic]); err != nil {
				delete(u.topics, topic)
				return nil, fmt.Errorf("search topic %s: %w", topic, err)
			}
		}
		all.add(u.topics[topic])
	}
	if !all.Clean() {
		return all, nil
	}
	for _, place := range u.Places {
		report, err := place.Search(ctx, u.Scanner, u.Pacer, u.searched)
		if err != nil {
			return nil, fmt.Errorf("search %s: %w", place.Name, err)
		}
		all.place(place.Name, report)
	}
	return all, nil
}

// topicSearch searches one topic, copy by copy.
type topicSearch struct {
	*Search
	topic bus.Topic
	f     *Findings
	here  *deletions.PlaceSearch
	// scanned means that the records' bytes were searched, except across cuts between chunks.
	scanned bool
	// joined are chunk values that continue joinedKey, to search across cuts; joinedAt is the last.
	joined    []byte
	joinedKey string
	joinedAt  logPlace
	// looked is that of the search, for the first copy.
	looked Looked
	// seen are the last places of keys, for topics with superseded records.
	seen map[string]logPlace
	// broker is the copy searched, or bus.OneCopy.
	broker int32
	copies copies
}

type logPlace struct {
	partition int
	offset    int64
}

func (u *underway) searchOf(topic bus.Topic, f *Findings) *topicSearch {
	return &topicSearch{
		Search: u.Search, topic: topic, f: f, here: f.at(string(topic)), looked: u.Looked,
		seen: make(map[string]logPlace), broker: bus.OneCopy, copies: newCopies(),
	}
}

// topic searches keys, values and headers.
func (u *underway) topic(ctx context.Context, topic bus.Topic, f *Findings) error {
	pace := u.Pacer.Begin()
	defer pace.End()
	t := u.searchOf(topic, f)
	take := func(rec ingest.Record) error {
		t.take(rec)
		return pace.Rest(ctx)
	}
	if u.Log != nil {
		switch err := u.segments(ctx, t, pace, take); {
		case errors.Is(err, bus.ErrCorrupt):
			*f = *newFindings() // the broker returns the records around it
			t = u.searchOf(topic, f)
		case err != nil:
			return err
		}
		t.flush()
	}
	// Every topic has markers: without a record, its files are elsewhere.
	if t.here.Records > 0 {
		return nil
	}
	t.scanned = false
	pace.Yield()
	defer pace.Resume()
	return u.asking(func() (err error) {
		t.here.Brokers, err = u.Bus.ReadCopies(ctx, topic, func(broker int32, rec ingest.Record) error {
			pace.Resume()
			defer pace.Yield()
			t.of(broker)
			return take(rec)
		}, t.around)
		t.f.apart = t.copies.apart(topic)
		t.flush()
		return err
	})
}

// since searches the records appended to a topic of original records.
func (u *underway) since(ctx context.Context, topic bus.Topic, behind map[int]int64, f *Findings) error {
	t := u.searchOf(topic, f)
	return u.asking(func() error {
		return u.Bus.ReadNew(ctx, topic, behind, func(rec ingest.Record) error {
			t.take(rec)
			return ctx.Err()
		})
	})
}

func (u *underway) segments(
	ctx context.Context, t *topicSearch, pace *scan.Pace, take func(ingest.Record) error,
) error {
	return u.Log.EachSegment(ctx, t.topic, func(s Segment) error {
		t.scanned = replaces(t.topic) && !s.Compressed
		hits, err := u.Scanner.ScanPaced(ctx, s.Data, pace)
		if err != nil {
			return err
		}
		if len(hits) == 0 {
			u.searched[s.Path] = s.Info
		}
		if t.scanned {
			t.f.mark(t.here, hits)
		}
		left, named := t.here.Hits, t.f.namedRecords()
		if err := s.Records(take); err != nil {
			return err
		}
		if t.f.namedRecords() > named && t.here.Hits == left {
			t.f.namedIn[s.Path] = true
		}
		return nil
	})
}

// of begins another broker's copy, of which nothing is known.
func (t *topicSearch) of(broker int32) {
	if broker == bus.OneCopy || broker == t.broker {
		return
	}
	t.flush()
	t.broker, t.looked, t.seen = broker, Looked{}, make(map[string]logPlace)
}

// around records an unreadable batch of a copy.
func (t *topicSearch) around(broker int32, gap *bus.Gap) {
	if u := unreadable(gap); t.copies.damage(u, broker) {
		t.here.Unreadable = append(t.here.Unreadable, u)
	}
}

func (t *topicSearch) take(rec ingest.Record) {
	at := logPlace{rec.Partition, rec.Offset}
	t.here.Records++
	t.copies.mark(rec.Partition, t.broker)
	t.f.opened(bus.TopicPartition{Topic: t.topic, Partition: rec.Partition}, rec)
	t.here.Bytes += int64(len(rec.Key) + len(rec.Value))
	if keepsOriginals(t.topic) {
		t.original(rec, at)
		return
	}
	t.mark(at, t.Scanner.MatchKey(rec.Key))
	for _, h := range rec.Headers {
		t.mark(at, t.Scanner.ScanBytes(h.Value))
	}
	if replaces(t.topic) && !strings.HasPrefix(string(rec.Key), "!") && rec.Uncommitted == "" {
		if before, superseded := t.seen[string(rec.Key)]; superseded {
			t.here.Superseded++
			t.due(before)
		}
		t.seen[string(rec.Key)] = at
	}
	if t.topic == bus.Receipts {
		t.mark(at, t.Scanner.ScanBytes(receipt.Decoded(rec.Value)))
	}
	t.join(rec, at)
}

// original searches a producer's record.
func (t *topicSearch) original(rec ingest.Record, at logPlace) {
	if t.looked.cleared(t.topic, rec) {
		return
	}
	hits := Hits(t.Scanner, rec)
	if id := string(rec.Key); t.topic == bus.Erasures && t.Held[id] && len(hits) > 0 {
		t.f.named(id, hits)
		return
	}
	t.mark(at, hits)
}

// join searches a value together with the chunks that it continues.
func (t *topicSearch) join(rec ingest.Record, at logPlace) {
	base := string(rec.Key)
	if at := strings.LastIndexByte(base, '/'); at >= 0 {
		base = base[:at]
	}
	if base != t.joinedKey {
		t.flush()
	}
	t.joinedKey, t.joinedAt = base, at
	if !t.scanned {
		t.joined = append(t.joined, rec.Value...)
		return
	}
	// Matches across the cut, or that depend on it.
	reach := t.Scanner.Reach()
	t.joined = append(t.joined, rec.Value[:min(len(rec.Value), reach)]...)
	t.mark(at, t.Scanner.ScanBytes(t.joined))
	rest := rec.Value
	if len(rest) <= reach {
		rest = t.joined
	}
	t.joined = append(t.joined[:0], rest[max(0, len(rest)-reach):]...)
}

func (t *topicSearch) flush() {
	t.mark(t.joinedAt, t.Scanner.ScanBytes(t.joined))
	t.joined, t.joinedKey = t.joined[:0], ""
}

func (t *topicSearch) mark(at logPlace, hits []scan.Hit) {
	if t.f.mark(t.here, hits); len(hits) > 0 {
		t.due(at)
	}
}

func (t *topicSearch) due(at logPlace) {
	t.f.due.mark(bus.TopicPartition{Topic: t.topic, Partition: at.partition}, at.offset)
}

// replaces reports whether later revisions replace records of a topic.
func replaces(t bus.Topic) bool { return t == bus.Snapshots || t == bus.Slices || t == bus.Models }
