package search

import (
	"log/slog"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// UnreadableAt is an unreadable batch of a topic.
type UnreadableAt struct {
	Topic bus.Topic
	deletions.UnreadableBatch
}

// Report logs that it may hold a record of a request's targets.
func (u UnreadableAt) Report(to *slog.Logger, requestID string) {
	to.Error("erasure: a batch that nobody can read may hold a record of a target: remove the records of its partition "+
		"up to it (docs/erasure-search.md has the commands)", "request_id", requestID, "topic", u.Topic,
		"partition", u.Partition, "first_offset", u.First, "last_offset", u.Last, "sha256", u.SHA256.String())
}

func unreadable(gap *bus.Gap) deletions.UnreadableBatch {
	return deletions.UnreadableBatch{
		Partition: gap.Partition, First: gap.From, Last: gap.To - 1, Bytes: gap.Bytes, SHA256: gap.SHA256,
	}
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

// damage marks a broker's copy as damaged, and reports whether it is the first with this batch.
func (c copies) damage(u deletions.UnreadableBatch, broker int32) (first bool) {
	c.mark(u.Partition, broker)
	if first = c.damaged[u] == nil; first {
		c.damaged[u] = make(map[int32]bool)
	}
	c.damaged[u][broker] = true
	return first
}

// apart returns batches that some copies have intact: a disk is damaged there, and may hold records that others have
// removed.
func (c copies) apart(topic bus.Topic) (out []UnreadableAt) {
	for u, by := range c.damaged {
		if len(by) < len(c.of[u.Partition]) {
			out = append(out, UnreadableAt{topic, u})
		}
	}
	return out
}
