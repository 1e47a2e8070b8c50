package translog_test

import (
	"context"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/deletions"
	"lethe/deletions/internal/memorykv"
	"lethe/deletions/translog"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// topic is log.v1 in memory.
type topic struct{ records []ingest.Record }

func (p *topic) Write(_ context.Context, t bus.Topic, records []ingest.Outgoing) error {
	for _, r := range records {
		p.records = append(p.records, ingest.Record{Topic: string(t), Key: r.Key, Value: r.Value})
	}
	return nil
}

func (p *topic) ReadAll(_ context.Context, _ bus.Topic, fn func(ingest.Record) error) error {
	for _, r := range p.records {
		if err := fn(r); err != nil {
			return err
		}
	}
	return nil
}

// published is what the topic holds.
func (p *topic) published(t *testing.T) translog.Copy {
	c, err := translog.ReadPublished(t.Context(), p)
	require.NoError(t, err)
	return c
}

// start begins a process over what is stored.
func (b *book) start(t *testing.T, p *topic) error {
	b.reopen(t, "ours")
	return b.log.Start(t.Context(), p, nil, changesOf(t, b))
}

// changesOf is what the ledger has.
func changesOf(t *testing.T, b *book) deletions.Changes {
	entries, err := b.ledger.List()
	require.NoError(t, err)
	holds, err := b.ledger.Holds()
	require.NoError(t, err)
	return deletions.Changes{Entries: entries, Holds: holds}
}

func refused(t *testing.T, err error, want translog.Statement) {
	t.Helper()
	var refusal *translog.Refusal
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, want, refusal.Statement, refusal.Problem)
}

func TestEveryLeafIsPublishedOnce(t *testing.T) {
	b, p := newBook(t, "ours"), &topic{}
	require.NoError(t, b.start(t, p))
	require.NoError(t, b.log.Publish(t.Context(), p))
	require.Empty(t, p.records, "an empty log says nothing")
	b.take(t, "r-1", "tx-1")
	require.NoError(t, b.log.Publish(t.Context(), p))
	require.Len(t, p.records, 2)
	b.carryOut(t, "r-1")

	// The process ends before that is published.
	require.NoError(t, b.start(t, p))
	for range 2 {
		require.NoError(t, b.log.Publish(t.Context(), p))
	}
	require.Len(t, p.records, 2+7+1, "the leaves since, and a checkpoint")
	signed, err := b.log.Checkpoint()
	require.NoError(t, err)
	require.Equal(t, signed.Note, p.published(t).Checkpoint)
	require.Len(t, p.published(t).Leaves, 8)
}

func TestALostLogIsMadeAgainFromItsTopic(t *testing.T) {
	b, p := newBook(t, "ours"), &topic{}
	require.NoError(t, b.start(t, p))
	b.take(t, "r-1", "tx-1")
	b.carryOut(t, "r-1")
	require.NoError(t, b.log.Publish(t.Context(), p))
	before, err := b.log.Checkpoint()
	require.NoError(t, err)

	// The ledger was made again from its copy, which is ahead of the log.
	entries, err := b.ledger.List()
	require.NoError(t, err)
	b.take(t, "r-2", "tx-2")
	more, err := b.ledger.Get("r-2")
	require.NoError(t, err)
	b.kv = memorykv.New()
	b.reopen(t, "ours")
	require.NoError(t, b.log.Start(t.Context(), p, nil, deletions.Changes{Entries: append(entries, more)}))
	require.Len(t, leaves(t, b), int(before.N)+1)
	require.NoError(t, b.log.Publish(t.Context(), p))
	require.Len(t, p.published(t).Leaves, int(before.N)+1)
	leaf, err := translog.Decode(p.published(t).Leaves[before.N])
	require.NoError(t, err)
	proofs, err := b.log.Prove(leaf)
	require.NoError(t, err)
	_, _, err = proofs[0].Check("", publicOf("ours"))
	require.NoError(t, err)
}

func TestALostTopicIsWrittenAgain(t *testing.T) {
	b, p := newBook(t, "ours"), &topic{}
	b.take(t, "r-1", "tx-1")
	require.NoError(t, b.log.Publish(t.Context(), p))
	for name, change := range map[string]func(){
		"all":            func() { p.records = nil },
		"its checkpoint": func() { p.records = p.records[:1] },
		"a leaf":         func() { p.records = p.records[1:] },
	} {
		change()
		require.NoError(t, b.start(t, p))
		require.NoError(t, b.log.Publish(t.Context(), p))
		require.Len(t, p.published(t).Leaves, 1, name)
		require.NotEmpty(t, p.published(t).Checkpoint, name)
	}
}

func TestALogThatWasRolledBackOrForkedIsRefused(t *testing.T) {
	b, p := newBook(t, "ours"), &topic{}
	b.take(t, "r-1", "tx-1")
	older := maps.Clone(b.kv.Rows)
	b.carryOut(t, "r-1")
	require.NoError(t, b.log.Publish(t.Context(), p))
	newer := b.kv.Rows

	b.kv.Rows = maps.Clone(older)
	refused(t, b.start(t, p), translog.StatementTopic)
	require.ErrorContains(t, b.start(t, p), "the log has 1 leaves, its checkpoint in log.v1 is of 8: it was rolled back")

	// It goes on otherwise, as a second process with the same folder would.
	b.kv.Rows = maps.Clone(older)
	b.reopen(t, "ours")
	for i := range 9 {
		require.NoError(t, b.log.Append(translog.Receipt{Request: digestOf("q"), Payload: digestOf("%d", i)}))
	}
	err := b.start(t, p)
	refused(t, err, translog.StatementTopic)
	require.ErrorContains(t, err, "there are two logs")

	b.kv.Rows = newer
	require.NoError(t, b.start(t, p))
	other := &topic{}
	theirs := newBook(t, "theirs")
	theirs.take(t, "r-1", "tx-1")
	require.NoError(t, theirs.log.Publish(t.Context(), other))
	refused(t, b.start(t, other), translog.StatementCheckpoint)
}

func TestALogIsNotMadeAgainFromAPartOfIt(t *testing.T) {
	b, p := newBook(t, "ours"), &topic{}
	b.take(t, "r-1", "tx-1")
	b.carryOut(t, "r-1")
	require.NoError(t, b.log.Publish(t.Context(), p))
	whole := p.records
	b.kv = memorykv.New()
	p.records = whole[1:]
	refused(t, b.start(t, p), translog.StatementTopic)
	p.records = append(append([]ingest.Record{}, whole...), ingest.Record{Key: whole[1].Key, Value: whole[2].Value})
	refused(t, b.start(t, p), translog.StatementTopic)
	p.records = whole
	require.NoError(t, b.start(t, p))
}

func TestReceiptsAreIssuedOnce(t *testing.T) {
	b, p := newBook(t, "ours"), &topic{}
	list := []translog.Receipt{
		{Request: digestOf("r1"), Payload: digestOf("p1")}, {Request: digestOf("r2"), Payload: digestOf("p2")},
	}
	var first []translog.Proof
	for range 2 {
		require.NoError(t, b.start(t, p))
		proofs, err := b.log.Issue(t.Context(), p, list)
		require.NoError(t, err)
		for i, proof := range proofs {
			leaf, _, err := proof.Check("", publicOf("ours"))
			require.NoError(t, err)
			require.Equal(t, list[i], leaf)
			require.Equal(t, p.published(t).Checkpoint, proof.Checkpoint, "nobody has another")
		}
		if first == nil {
			first = proofs
		}
		require.Equal(t, first, proofs)
	}
	var _ deletions.Journal = b.log
}
