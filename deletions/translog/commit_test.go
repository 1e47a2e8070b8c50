package translog_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions/translog"
)

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
