package translog_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions/translog"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// Whatever somebody writes over the log in its topic, the topic has the log again once that was read; and of what the
// log says itself nothing is written again.
func TestWhatWasWrittenOverIsPublishedAgain(t *testing.T) {
	b, p := newBook(t, "ours"), &topic{}
	require.NoError(t, b.start(t, p))
	b.take(t, "r-1", "tx-1")
	require.NoError(t, b.log.Publish(t.Context(), p))
	before := p.published(t)
	b.carryOut(t, "r-1")
	require.NoError(t, b.log.Publish(t.Context(), p))
	want := p.published(t)
	read := 0
	goesOn := func() {
		for read < len(p.records) {
			records := p.records[read:]
			read = len(p.records)
			require.NoError(t, b.log.PublishAgain(t.Context(), p, records))
		}
		require.Equal(t, want, p.published(t))
	}
	goesOn()
	require.Len(t, p.records, read, "nothing was written again")
	leaf := func(index int) []byte { return fmt.Appendf(nil, "%016d", index) }
	for name, late := range map[string]ingest.Outgoing{
		"an earlier checkpoint": {Key: []byte("checkpoint"), Value: []byte(before.Checkpoint)},
		"no checkpoint":         {Key: []byte("checkpoint")},
		"junk":                  {Key: []byte("checkpoint"), Value: []byte("junk")},
		"another leaf":          {Key: leaf(1), Value: want.Leaves[0]},
		"no leaf":               {Key: leaf(0)},
		"one that is not there": {Key: leaf(len(want.Leaves)), Value: want.Leaves[0]},
		"one far behind":        {Key: leaf(1000), Value: want.Leaves[0]},
	} {
		require.NoError(t, p.Write(t.Context(), bus.Log, []ingest.Outgoing{late}), name)
		goesOn()
	}
	require.Less(t, len(p.records), 60)
}

// A log that is begun leaves out what somebody wrote late who led before, if the rest is a whole log.
func TestALogIsMadeAgainWithoutWhatCameLate(t *testing.T) {
	b, p := newBook(t, "ours"), &topic{}
	b.take(t, "r-1", "tx-1")
	require.NoError(t, b.log.Publish(t.Context(), p))
	before := p.published(t)
	b.carryOut(t, "r-1")
	require.NoError(t, b.log.Publish(t.Context(), p))
	want, genuine := p.published(t), len(p.records)
	require.NoError(t, p.Write(t.Context(), bus.Log, []ingest.Outgoing{
		{Key: []byte("checkpoint"), Value: []byte(before.Checkpoint)},
		{Key: fmt.Appendf(nil, "%016d", 2), Value: want.Leaves[0]},
		{Key: fmt.Appendf(nil, "%016d", len(want.Leaves)), Value: want.Leaves[0]},
	}))
	n := 0
	other := newBook(t, "ours")
	require.NoError(t, other.log.Start(t.Context(), p, func(ingest.Record) bool {
		n++
		return n > genuine
	}, changesOf(t, b)))
	require.NoError(t, other.log.Publish(t.Context(), p))
	require.Equal(t, want, p.published(t))
	// Records have no code: who says that all of them are late has nothing left out.
	other = newBook(t, "ours")
	require.NoError(t, other.log.Start(t.Context(), p, func(ingest.Record) bool { return true }, changesOf(t, b)))
	require.Len(t, leaves(t, other), len(want.Leaves))
	require.NoError(t, other.log.Publish(t.Context(), p))
	require.Equal(t, want, p.published(t))
}

// A digest is committed to once, also after a restart, and a leaf says what it replaces,
// also where it is what was there before.
func TestEveryContentIsCommittedToOnce(t *testing.T) {
	b := newBook(t, "ours")
	slice := func(digest lethe.Digest) translog.Slice {
		return translog.Slice{Timestep: 3, Shard: 1, Revision: 1, Digest: digest}
	}
	model := func(text string) translog.Checkpoint {
		return translog.Checkpoint{Component: 1, Group: 2, Timestep: 3, Lineage: digestOf("l"), Digest: digestOf("%s", text)}
	}
	old, fresh := digestOf("old"), digestOf("new")
	for _, step := range []struct {
		leaf     translog.Leaf
		replaces lethe.Digest
	}{
		{slice(old), lethe.Digest{}},
		{slice(fresh), old},
		{slice(old), fresh},
		{slice(fresh), old},
		{slice(lethe.Digest{}), fresh},
		{model("a"), lethe.Digest{}},
		{model("b"), digestOf("a")},
		{translog.Setup{Digest: digestOf("s")}, lethe.Digest{}},
		{translog.Setup{Digest: digestOf("t")}, digestOf("s")},
	} {
		n, err := b.log.Commit(step.leaf, step.leaf)
		require.NoError(t, err)
		require.Equal(t, 1, n)
		b.reopen(t, "ours")
		n, err = b.log.Commit(step.leaf)
		require.NoError(t, err)
		require.Zero(t, n)
		var last translog.Leaf
		require.NoError(t, b.log.Each(func(_ int64, leaf translog.Leaf) error {
			last = leaf
			return nil
		}))
		switch leaf := last.(type) {
		case translog.Slice:
			require.Equal(t, step.replaces, leaf.Replaces)
		case translog.Checkpoint:
			require.Equal(t, step.replaces, leaf.Replaces)
		case translog.Setup:
			require.Equal(t, step.replaces, leaf.Replaces)
		}
	}
	require.Len(t, leaves(t, b), 9)
	_, err := b.log.Commit(translog.Receipt{})
	require.Error(t, err)
}

// What a source said before a position is not committed to again, whatever replaced it.
func TestPositionsAreKeptWithTheLeaves(t *testing.T) {
	b := newBook(t, "ours")
	slice := translog.Slice{Timestep: 3, Shard: 1, Revision: 1, Digest: digestOf("s")}
	next, err := b.log.Position("topic/0")
	require.NoError(t, err)
	require.Zero(t, next)
	n, err := b.log.CommitThrough("topic/0", 7, slice)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	b.reopen(t, "ours")
	for _, source := range []string{"topic/0", "topic/01"} {
		next, err = b.log.Position(source)
		require.NoError(t, err)
		require.Equal(t, map[string]int64{"topic/0": 7}[source], next)
	}
	n, err = b.log.CommitThrough("topic/0", 9, slice)
	require.NoError(t, err)
	require.Zero(t, n)
}
