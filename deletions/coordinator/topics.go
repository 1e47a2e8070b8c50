package coordinator

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"lethe/deletions"
	"lethe/deletions/receipt"
	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// Log reads topics from the files of this process's broker, so that every byte is read once.
type Log interface {
	// EachSegment calls fn for every file of a topic in order. They have all that was acknowledged before.
	EachSegment(ctx context.Context, topic bus.Topic, fn func(Segment) error) error
}

// Segment is a part of a partition to be searched.
type Segment struct {
	// Path is below the broker's folder. Files only grow.
	Path string
	Info fs.FileInfo
	Data []byte
	// Compressed says that Data does not hold records as they are.
	Compressed bool
	Records    func(fn func(ingest.Record) error) error
}

type topicSearch struct {
	scanner *scan.Scanner
	topic   bus.Topic
	f       *findings
	here    *deletions.PlaceSearch
	// scanned says that the records' bytes were searched, except across cuts between chunks.
	scanned bool
	// joined are chunk values that continue joinedKey, to search across cuts; joinedAt is the last.
	joined    []byte
	joinedKey string
	joinedAt  logPlace
	looked    looked
	// seen are the last places of keys, for topics with superseded records.
	seen map[string]logPlace
	// broker is the copy searched, or bus.OneCopy.
	broker int32
	copies copies
	held   map[string]bool
}

func (t *topicSearch) mark(at logPlace, hits []scan.Hit) {
	if t.f.mark(t.here, hits); len(hits) > 0 {
		t.due(at)
	}
}

func (t *topicSearch) due(at logPlace) {
	t.f.due.mark(bus.TopicPartition{Topic: t.topic, Partition: at.partition}, at.offset)
}

// named are the findings in a held request's own records.
type named struct {
	records int
	// by are the fingerprints, by index.
	by map[int]bool
}

// named records hits in a held request's own record and reports whether it is one.
func (t *topicSearch) named(rec ingest.Record, hits []scan.Hit) bool {
	id := string(rec.Key)
	if t.topic != bus.Erasures || !t.held[id] || len(hits) == 0 {
		return false
	}
	one := t.f.named[id]
	if one == nil {
		one = &named{by: make(map[int]bool)}
		t.f.named[id] = one
	}
	one.records++
	for _, h := range hits {
		one.by[h.Fingerprint] = true
	}
	return true
}

// records counts the held requests' records so far.
func (f *findings) records() (n int) {
	for _, one := range f.named {
		n += one.records
	}
	return n
}

// topic searches keys, values and headers.
func (u *underway) topic(ctx context.Context, topic bus.Topic, f *findings) error {
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
			*f = *newFindings() // the broker is asked for what stands around it
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

// of begins another broker's copy, of which nothing is known.
func (t *topicSearch) of(broker int32) {
	if broker == bus.OneCopy || broker == t.broker {
		return
	}
	t.flush()
	t.broker, t.looked, t.seen = broker, looked{}, make(map[string]logPlace)
}

func (u *underway) segments(
	ctx context.Context, t *topicSearch, pace *scan.Pace, take func(ingest.Record) error,
) error {
	return u.Log.EachSegment(ctx, t.topic, func(s Segment) error {
		t.scanned = replaces(t.topic) && !s.Compressed
		hits, err := u.scanner.ScanPaced(ctx, s.Data, pace)
		if err != nil {
			return err
		}
		if len(hits) == 0 {
			u.seenIn(BrokerFolder).NoteGrowing(s.Path, s.Info)
		}
		if t.scanned {
			t.f.mark(t.here, hits)
		}
		left, named := t.here.Hits, t.f.records()
		if err := s.Records(take); err != nil {
			return err
		}
		if t.f.records() > named && t.here.Hits == left {
			t.f.namedIn[s.Path] = true
		}
		return nil
	})
}

func (t *topicSearch) take(rec ingest.Record) {
	at := logPlace{rec.Partition, rec.Offset}
	t.here.Records++
	t.copies.mark(rec.Partition, t.broker)
	t.f.addOpen(bus.TopicPartition{Topic: t.topic, Partition: rec.Partition}, rec)
	t.here.Bytes += int64(len(rec.Key) + len(rec.Value))
	if keepsOriginals(t.topic) {
		if !t.looked.holds(t.topic, rec) {
			if hits := hitsIn(t.scanner, rec); !t.named(rec, hits) {
				t.mark(at, hits)
			}
		}
		return
	}
	t.mark(at, t.scanner.MatchKey(rec.Key))
	for _, h := range rec.Headers {
		t.mark(at, t.scanner.ScanBytes(h.Value))
	}
	if replaces(t.topic) && !strings.HasPrefix(string(rec.Key), "!") && rec.Uncommitted == "" {
		if before, superseded := t.seen[string(rec.Key)]; superseded {
			t.here.Superseded++
			t.due(before)
		}
		t.seen[string(rec.Key)] = at
	}
	if t.topic == bus.Receipts {
		t.mark(at, t.scanner.ScanBytes(receipt.Said(rec.Value)))
	}
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
	// What lies across the cut, or depends on it.
	reach := t.scanner.Reach()
	t.joined = append(t.joined, rec.Value[:min(len(rec.Value), reach)]...)
	t.mark(at, t.scanner.ScanBytes(t.joined))
	rest := rec.Value
	if len(rest) <= reach {
		rest = t.joined
	}
	t.joined = append(t.joined[:0], rest[max(0, len(rest)-reach):]...)
}

func (t *topicSearch) flush() {
	t.mark(t.joinedAt, t.scanner.ScanBytes(t.joined))
	t.joined, t.joinedKey = t.joined[:0], ""
}

// replaces reports whether later revisions replace records of a topic.
func replaces(t bus.Topic) bool { return t == bus.Snapshots || t == bus.Slices || t == bus.Models }

// keepsOriginals reports whether a topic has producers' original records.
func keepsOriginals(t bus.Topic) bool {
	return t == bus.Transactions || t == bus.Labels || t == bus.Erasures || t == bus.DeadLetters
}

// looked are records found clean for some fingerprints. Offsets never change, so a later search can skip them.
type looked struct {
	prints map[scan.MAC]bool
	// through is the last offset searched; except are those before that were not, or hold something.
	through map[bus.TopicPartition]int64
	except  map[bus.TopicPartition]map[int64]bool
}

func lookedFor(prints []scan.Fingerprint) looked {
	l := looked{
		make(map[scan.MAC]bool), make(map[bus.TopicPartition]int64), make(map[bus.TopicPartition]map[int64]bool),
	}
	for _, f := range prints {
		l.prints[f.MAC] = true
	}
	return l
}

// serves reports whether all fingerprints were searched for.
func (l looked) serves(prints []scan.Fingerprint) bool {
	return !slices.ContainsFunc(prints, func(f scan.Fingerprint) bool { return !l.prints[f.MAC] })
}

// mark adds the next record of a partition.
func (l looked) mark(topic bus.Topic, rec ingest.Record, empty bool) {
	at := bus.TopicPartition{Topic: topic, Partition: rec.Partition}
	l.through[at] = rec.Offset
	if empty {
		return
	}
	if l.except[at] == nil {
		l.except[at] = make(map[int64]bool)
	}
	l.except[at][rec.Offset] = true
}

// holds reports whether a record is known to be clean. Uncommitted ones never are.
func (l looked) holds(topic bus.Topic, rec ingest.Record) bool {
	if rec.Uncommitted != "" {
		return false
	}
	at := bus.TopicPartition{Topic: topic, Partition: rec.Partition}
	through, found := l.through[at]
	return found && rec.Offset <= through && !l.except[at][rec.Offset]
}
