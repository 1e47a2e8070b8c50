package coordinator

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/normalise"
)

// located are the records to be tombstoned or republished.
type located struct {
	predictions, reasons, sources, letters remains
	looked                                 looked
	// refused are the source records of the dead letters found.
	refused map[sourcePlace]bool
	// late are the ones of them refused as late.
	late       []ingest.Record
	unreadable map[bus.Topic][]deletions.UnreadableBatch
	rolls      rolls
}

// unreadableAt is an unreadable batch of a topic.
type unreadableAt struct {
	topic bus.Topic
	deletions.UnreadableBatch
}

func (u unreadableAt) report(to *slog.Logger, requestID string) {
	to.Error("erasure: a batch that nobody can read may hold a record of a target: remove the records of its partition "+
		"up to it (docs/erasure.md has the commands)", "request_id", requestID, "topic", u.topic, "partition", u.Partition,
		"first_offset", u.First, "last_offset", u.Last, "sha256", u.SHA256.String())
}

func unreadable(gap *bus.Gap) deletions.UnreadableBatch {
	return deletions.UnreadableBatch{
		Partition: gap.Partition, First: gap.From, Last: gap.To - 1, Bytes: gap.Bytes, SHA256: gap.SHA256,
	}
}

// heldUp returns the requests with a target's key in a partition that has an unreadable batch, each with one such
// batch. A key with several spellings may be in any partition. Topics without such keys count in the final search.
func (l *located) heldUp(
	b batch, requests [][]lethe.Target, names normalise.Rule, partitions func(bus.Topic) (int, error),
) (map[string]unreadableAt, error) {
	out := make(map[string]unreadableAt)
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
					out[b.members[i].RequestID] = unreadableAt{topic, u}
				}
			}
		}
	}
	return out, nil
}

// keyed are the topics partitioned by ids.
func keyed() []bus.Topic {
	return []bus.Topic{bus.Transactions, bus.Labels, bus.Predictions, bus.Reasons}
}

// keysOf are the keys of a target's records in a keyed topic.
func keysOf(t lethe.Target, topic bus.Topic) [][]byte {
	switch {
	case t.Kind != lethe.PaymentTarget:
		return [][]byte{ingest.TransactionKey(t.Transaction)}
	case topic == bus.Transactions:
		return [][]byte{ingest.PaymentKey(t.Payment.Source, t.Payment.Target)}
	case topic == bus.Reasons:
		return [][]byte{ingest.TransactionKey(t.Payment.Source), ingest.TransactionKey(t.Payment.Target)}
	default:
		return nil
	}
}

func (u *underway) searchOf(topic bus.Topic, f *findings) *topicSearch {
	return &topicSearch{
		scanner: u.scanner, topic: topic, f: f, here: f.at(string(topic)), looked: u.looked,
		seen: make(map[string]logPlace), broker: bus.OneCopy, held: u.held,
		copies: newCopies(),
	}
}

// around records an unreadable batch of a copy.
func (t *topicSearch) around(broker int32, gap *bus.Gap) {
	u := unreadable(gap)
	t.copies.mark(u.Partition, broker)
	if t.copies.damaged[u] == nil {
		t.copies.damaged[u] = make(map[int32]bool)
		t.here.Unreadable = append(t.here.Unreadable, u)
	}
	t.copies.damaged[u][broker] = true
}

// copies are the brokers whose copies were searched by partition, and those with an unreadable batch.
type copies struct {
	of      map[int]map[int32]bool
	damaged map[deletions.UnreadableBatch]map[int32]bool
}

func newCopies() copies {
	return copies{make(map[int]map[int32]bool), make(map[deletions.UnreadableBatch]map[int32]bool)}
}

func (c copies) mark(partition int, broker int32) {
	if c.of[partition] == nil {
		c.of[partition] = make(map[int32]bool)
	}
	c.of[partition][broker] = true
}

// apart are batches that some copies have intact: there a disk is damaged, and may hold what others were cleaned of.
func (c copies) apart(topic bus.Topic) (out []unreadableAt) {
	for u, by := range c.damaged {
		if len(by) < len(c.of[u.Partition]) {
			out = append(out, unreadableAt{topic, u})
		}
	}
	return out
}

// A record of a transaction with erased features is republished with zeros, so that compaction removes the old one.

// place is a topic and the place of a key in it.
type place struct {
	topic bus.Topic
	partitionKey
}

type logPlace struct {
	partition int
	offset    int64
}

// sourcePlace is a position in transactions.v1 or labels.v1.
type sourcePlace struct {
	topic bus.Topic
	logPlace
}

func sourcePlaceOf(rec ingest.Record) sourcePlace {
	return sourcePlace{sourceOf(rec), logPlace{rec.Partition, rec.Offset}}
}

// addRefused records the source record of a dead letter.
func (l *located) addRefused(letter ingest.Record) {
	read, err := ingest.ReadDeadLetter(letter)
	refused := read.Record
	if err != nil || !strings.HasSuffix(refused.Topic, string(sourceOf(refused))) {
		return
	}
	l.refused[sourcePlaceOf(refused)] = true
	if read.Refusal.Reason == ingest.Late {
		l.late = append(l.late, ingest.Record{Key: slices.Clone(refused.Key), Value: slices.Clone(letter.Value)})
	}
}

// wasRefused reports whether a source record was refused, or replaces one that was.
func (l *located) wasRefused(secret lethe.Secret, rec ingest.Record) bool {
	_, refused := ingest.IsRepublished(secret, rec)
	return refused || l.refused[sourcePlaceOf(rec)]
}

// redacted returns what replaces a record with erased features, or another's record that names a target; nil if it
// must be tombstoned: something else in it is erased too, it is broken, or too large for its topic.
func (s *Search) redacted(topic bus.Topic, rec ingest.Record, hits []scan.Hit, l *located) *ingest.Outgoing {
	if topic != bus.Transactions && topic != bus.Labels && topic != bus.DeadLetters {
		return nil
	}
	refused := l.wasRefused(s.secret, rec)
	var headers []ingest.Header
	value, changed := ingest.Redacted(rec.Value, s.scanner.RedactedOf)
	switch rec.Value = value; {
	case topic == bus.DeadLetters && (namesTarget(hits) || !changed):
		return nil
	case topic == bus.DeadLetters:
	case namesTarget(hits):
		var ok bool
		if rec, ok = stripped(s.scanner, rec); !ok {
			return nil
		}
		headers = rec.Headers
	case !changed:
		return nil
	}
	out := ingest.Republished(s.secret, rec, rec.Value, refused, headers...)
	if topic == bus.DeadLetters {
		out.Headers = rec.Headers // they say why it was refused
	}
	if !bus.Takes(topic, out) {
		return nil
	}
	if after := (ingest.Record{Key: out.Key, Value: out.Value, Headers: out.Headers}); len(hitsIn(s.scanner, after)) > 0 {
		return nil
	}
	return &out
}

// namesTarget reports whether a hit is not only of features.
func namesTarget(hits []scan.Hit) bool {
	return slices.ContainsFunc(hits, func(h scan.Hit) bool { return h.Kind != scan.KindFeaturesOf && !isFeatures(h.Kind) })
}

// Redaction is a record's value with zeros for erased features, and without names of targets.
type Redaction struct {
	Value []byte
	// Headers are the remaining ones.
	Headers []ingest.Header
	// Refused says that the record is refused nevertheless.
	Refused bool
}

// Republish republishes records of a batch with other values. As in Withdraw, a record with a later one of its key
// in the batch is left alone.
func (n *Erased) Republish(ctx context.Context, batch bus.Batch, redactions map[int]Redaction) error {
	if err := n.recordDropped(ctx, batch, slices.Sorted(maps.Keys(redactions))); err != nil {
		return fmt.Errorf("note what was dropped: %w", err)
	}
	var out []ingest.Outgoing
	for at, rec := range batch.Records {
		redacted, again := redactions[at]
		later := func(other ingest.Record) bool { return string(other.Key) == string(rec.Key) }
		if !again || slices.ContainsFunc(batch.Records[at+1:], later) {
			continue
		}
		out = append(out, ingest.Republished(n.secret, rec, redacted.Value, redacted.Refused, redacted.Headers...))
	}
	if err := n.out.withdraw(ctx, batch.Source.Topic, out); err != nil {
		return fmt.Errorf("publish redacted records again: %w", err)
	}
	n.addUnderWay(batch.Source.Topic, out)
	return nil
}

// sourceOf is transactions.v1 or labels.v1, without a prefix.
func sourceOf(rec ingest.Record) bus.Topic {
	if strings.HasSuffix(rec.Topic, string(bus.Labels)) {
		return bus.Labels
	}
	return bus.Transactions
}

// stripped returns another transaction's record without erased names, and whether nothing is found in it afterwards.
// A record with an erased subject must go as a whole.
func stripped(scanner *scan.Scanner, rec ingest.Record) (_ ingest.Record, ok bool) {
	ofSubject := func(h scan.Hit) bool { return h.Kind == scan.KindSubject }
	if rec.Tombstone() || slices.ContainsFunc(hitsIn(scanner, rec), ofSubject) {
		return rec, false
	}
	return ingest.Stripped(rec, func(part ingest.Record) bool {
		return len(slices.DeleteFunc(hitsIn(scanner, part), ofSubject)) > 0
	})
}
