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

// located are the records that hold what is erased, where they are to be withdrawn.
type located struct {
	predictions, reasons, sources, letters remains
	looked                                 looked
	// refused are the records that dead letters of those looked for are of.
	refused map[sourcePlace]bool
	// late are those of them that were late.
	late []ingest.Record
	// unreadable are the batches that nobody can read.
	unreadable map[bus.Topic][]deletions.UnreadableBatch
	rolls      rolls
}

// What nobody can read holds up those erasures whose targets could be in it.

// unreadableAt is a batch that nobody can read, in a topic.
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

// heldUp returns the requests of a batch whose targets have keys in a partition where something cannot be read, each
// with one such batch. A key that may be spelt otherwise may be in any. In topics without such keys everything may be:
// the search at the end counts them.
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

// keyed are the topics whose partitions the ids in their keys choose.
func keyed() []bus.Topic {
	return []bus.Topic{bus.Transactions, bus.Labels, bus.Predictions, bus.Reasons}
}

// keysOf are the keys under which a keyed topic has records of a target.
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

// searchOf begins the search of a topic.
func (u *underway) searchOf(topic bus.Topic, f *findings) *topicSearch {
	return &topicSearch{
		scanner: u.scanner, topic: topic, f: f, here: f.at(string(topic)), looked: u.looked,
		seen: make(map[string]logPlace), broker: bus.OneCopy, held: u.held,
		copies: newCopies(),
	}
}

// around takes what nobody can read in a copy.
func (t *topicSearch) around(broker int32, gap *bus.Gap) {
	u := unreadable(gap)
	t.copies.note(u.Partition, broker)
	if t.copies.damaged[u] == nil {
		t.copies.damaged[u] = make(map[int32]bool)
		t.here.Unreadable = append(t.here.Unreadable, u)
	}
	t.copies.damaged[u][broker] = true
}

// copies are the brokers whose copies of a topic were searched, by partition, and those that have a batch which cannot
// be read.
type copies struct {
	of      map[int]map[int32]bool
	damaged map[deletions.UnreadableBatch]map[int32]bool
}

func newCopies() copies {
	return copies{make(map[int]map[int32]bool), make(map[deletions.UnreadableBatch]map[int32]bool)}
}

func (c copies) note(partition int, broker int32) {
	if c.of[partition] == nil {
		c.of[partition] = make(map[int32]bool)
	}
	c.of[partition][broker] = true
}

// apart are the batches that some copies have whole, or had: there a disk is damaged, and the copy may hold whatever
// others were cleaned of.
func (c copies) apart(topic bus.Topic) (out []unreadableAt) {
	for u, by := range c.damaged {
		if len(by) < len(c.of[u.Partition]) {
			out = append(out, unreadableAt{topic, u})
		}
	}
	return out
}

// A record of a transaction of which features are erased is not withdrawn: it is published
// again under its key with 0 in their place, so that compaction forgets the old one.

// place is where the records of a key are.
type place struct {
	topic bus.Topic
	partitionKey
}

// logPlace is where a record stands in its topic.
type logPlace struct {
	partition int
	offset    int64
}

// sourcePlace is where a record stands in transactions.v1 or labels.v1.
type sourcePlace struct {
	topic bus.Topic
	logPlace
}

func sourcePlaceOf(rec ingest.Record) sourcePlace {
	return sourcePlace{sourceOf(rec), logPlace{rec.Partition, rec.Offset}}
}

// noteRefused notes which transaction's, payment's or label's record a dead letter is of.
func (l *located) noteRefused(letter ingest.Record) {
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

// wasRefused reports whether a source's record was refused, or is published in the place
// of one that was.
func (l *located) wasRefused(secret lethe.Secret, rec ingest.Record) bool {
	_, refused := ingest.IsRepublished(secret, rec)
	return refused || l.refused[sourcePlaceOf(rec)]
}

// redacted is what takes the place of a record in which features were found that are erased, or of another's
// that names a target, nil if it has to go as a whole: it is of something else that is erased too, it is broken,
// so that nobody can tell what in it is a feature or names another, or it is too large for its topic, and so for a
// graph.
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

// namesTarget reports whether something else than erased features was found in a record.
func namesTarget(hits []scan.Hit) bool {
	return slices.ContainsFunc(hits, func(h scan.Hit) bool { return h.Kind != scan.KindFeaturesOf && !isFeatures(h.Kind) })
}

// Redaction is a record's value with 0 for features that are erased, and without what named a target.
type Redaction struct {
	Value []byte
	// Headers are those of the record that stay.
	Headers []ingest.Header
	// Refused says that the record is refused all the same.
	Refused bool
}

// Republish publishes the records at some positions of a batch again, with other values. As
// in Withdraw, a record is left alone if a later one of the batch has its key: whatever comes
// in of its transaction is published again.
func (n *Erased) Republish(ctx context.Context, batch bus.Batch, redactions map[int]Redaction) error {
	if err := n.noteDropped(ctx, batch, slices.Sorted(maps.Keys(redactions))); err != nil {
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
	n.noteUnderWay(batch.Source.Topic, out)
	return nil
}

// sourceOf is the topic of a record of transactions.v1 or labels.v1, without a prefix.
func sourceOf(rec ingest.Record) bus.Topic {
	if strings.HasSuffix(rec.Topic, string(bus.Labels)) {
		return bus.Labels
	}
	return bus.Transactions
}

// stripped returns a record of another transaction without what names something erased, and whether nothing is found in
// it any more. A record that an erased subject is found in is removed as a whole.
func stripped(scanner *scan.Scanner, rec ingest.Record) (_ ingest.Record, ok bool) {
	ofSubject := func(h scan.Hit) bool { return h.Kind == scan.KindSubject }
	if rec.Tombstone() || slices.ContainsFunc(hitsIn(scanner, rec), ofSubject) {
		return rec, false
	}
	return ingest.Stripped(rec, func(part ingest.Record) bool {
		return len(slices.DeleteFunc(hitsIn(scanner, part), ofSubject)) > 0
	})
}
