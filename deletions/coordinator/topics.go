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

// Log reads topics in the files of a broker of this process, a file at a time. So
// every byte is read once, and not sent by the broker as well.
type Log interface {
	// EachSegment calls fn for every file of a topic, by partition and offset. What was
	// acknowledged before is in one of them.
	EachSegment(ctx context.Context, topic bus.Topic, fn func(Segment) error) error
}

// Segment is a file of a log.
type Segment struct {
	// Path is below the broker's folder. The bytes of the file are never changed, but
	// more may follow them.
	Path string
	Info fs.FileInfo
	Data []byte
	// Compressed says that records are not in Data as they are.
	Compressed bool
	// Records calls fn for every record of the file.
	Records func(fn func(ingest.Record) error) error
}

// topicSearch searches the records of one topic.
type topicSearch struct {
	scanner *scan.Scanner
	topic   bus.Topic
	f       *findings
	here    *deletions.PlaceSearch
	// scanned says that the bytes of every record were looked through before, but not
	// across the cuts between chunks.
	scanned bool
	// joined are values of chunks whose keys continue joinedKey, so that nothing hides
	// across the cut; joinedAt is where the last of them is.
	joined    []byte
	joinedKey string
	joinedAt  logPlace
	looked    looked
	// seen are the keys so far, of topics whose records replace each other, and where the last
	// record of each is.
	seen map[string]logPlace
	// broker is the one whose copy is searched, bus.OneCopy where there is one.
	broker int32
	copies copies
	held   map[string]bool
}

// note counts what was found in a record.
func (t *topicSearch) note(at logPlace, hits []scan.Hit) {
	if t.f.note(t.here, hits); len(hits) > 0 {
		t.due(at)
	}
}

func (t *topicSearch) due(at logPlace) {
	t.f.due.note(bus.TopicPartition{Topic: t.topic, Partition: at.partition}, at.offset)
}

// named is what the records of a request that waits for a hold name of what is searched for.
type named struct {
	records int
	// by are the fingerprints, by their position in the search.
	by map[int]bool
}

// named takes what was found in a record of such a request; it reports whether it is one.
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

// records is how many records of such requests were found so far.
func (f *findings) records() (n int) {
	for _, one := range f.named {
		n += one.records
	}
	return n
}

// topic searches keys, values and headers of every record.
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
	// Every topic holds markers: if no record was seen, its files are elsewhere.
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

// of begins another broker's copy. A record that one keeps may have been gone from the copy that was looked
// at before, so that nothing is known of it.
func (t *topicSearch) of(broker int32) {
	if broker == bus.OneCopy || broker == t.broker {
		return
	}
	t.flush()
	t.broker, t.looked, t.seen = broker, looked{}, make(map[string]logPlace)
}

// segments searches a topic in the files of its log.
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
			t.f.note(t.here, hits)
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

// take searches a record.
func (t *topicSearch) take(rec ingest.Record) {
	at := logPlace{rec.Partition, rec.Offset}
	t.here.Records++
	t.copies.note(rec.Partition, t.broker)
	t.f.noteOpen(bus.TopicPartition{Topic: t.topic, Partition: rec.Partition}, rec)
	t.here.Bytes += int64(len(rec.Key) + len(rec.Value))
	if keepsOriginals(t.topic) {
		if !t.looked.holds(t.topic, rec) {
			if hits := hitsIn(t.scanner, rec); !t.named(rec, hits) {
				t.note(at, hits)
			}
		}
		return
	}
	t.note(at, t.scanner.MatchKey(rec.Key))
	for _, h := range rec.Headers {
		t.note(at, t.scanner.ScanBytes(h.Value))
	}
	if replaces(t.topic) && !strings.HasPrefix(string(rec.Key), "!") && rec.Uncommitted == "" {
		if before, superseded := t.seen[string(rec.Key)]; superseded {
			t.here.Superseded++
			t.due(before)
		}
		t.seen[string(rec.Key)] = at
	}
	if t.topic == bus.Receipts {
		t.note(at, t.scanner.ScanBytes(receipt.Said(rec.Value)))
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
	// What lies across the cut, or is told from other bytes by it.
	reach := t.scanner.Reach()
	t.joined = append(t.joined, rec.Value[:min(len(rec.Value), reach)]...)
	t.note(at, t.scanner.ScanBytes(t.joined))
	rest := rec.Value
	if len(rest) <= reach {
		rest = t.joined
	}
	t.joined = append(t.joined[:0], rest[max(0, len(rest)-reach):]...)
}

// flush searches what was joined.
func (t *topicSearch) flush() {
	t.note(t.joinedAt, t.scanner.ScanBytes(t.joined))
	t.joined, t.joinedKey = t.joined[:0], ""
}

// replaces reports whether a topic holds graphs, slices or models, of which a later
// revision replaces the earlier one.
func replaces(t bus.Topic) bool { return t == bus.Snapshots || t == bus.Slices || t == bus.Models }

// keepsOriginals reports whether a topic's records are as their producers wrote them.
func keepsOriginals(t bus.Topic) bool {
	return t == bus.Transactions || t == bus.Labels || t == bus.Erasures || t == bus.DeadLetters
}

// looked are the records that were looked at for some fingerprints and hold none: what
// stands at an offset never changes, so a later search for them need not decode it again.
type looked struct {
	prints map[scan.MAC]bool
	// through is the last offset that was looked at, except are those up to it that were
	// not, or hold something.
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

// serves reports whether no other fingerprints are looked for.
func (l looked) serves(prints []scan.Fingerprint) bool {
	return !slices.ContainsFunc(prints, func(f scan.Fingerprint) bool { return !l.prints[f.MAC] })
}

// note takes a record, the next of its partition.
func (l looked) note(topic bus.Topic, rec ingest.Record, empty bool) {
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

// holds reports whether a record was looked at and held nothing. Those that are not committed are looked at
// each time.
func (l looked) holds(topic bus.Topic, rec ingest.Record) bool {
	if rec.Uncommitted != "" {
		return false
	}
	at := bus.TopicPartition{Topic: topic, Partition: rec.Partition}
	through, found := l.through[at]
	return found && rec.Offset <= through && !l.except[at][rec.Offset]
}
