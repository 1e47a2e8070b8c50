package train

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
)

// A deletion, and what it deletes, may go from the topic before a process has come to it that has read the latter. Once
// that takes over, it publishes what is missing.
func TestWhoTakesOverPublishesWhatIsNotThereAnyMore(t *testing.T) {
	c, _ := trainedByOne(t)
	want := payloadsAsWritten(t, c.topics)
	two := c.join("two", nil)
	c.run("two")
	c.leave("one")
	publish(t, c.topics, wire.Message{Key: wire.Key{Kind: wire.KindModel, Shard: 1, Timestep: 3}, Deleted: true})
	require.NoError(t, c.topics.Compact())
	require.Len(t, payloadsAsWritten(t, c.topics), len(want)-1)
	c.assign("two", 2, 0, 1)
	c.run("two")
	require.Equal(t, want, payloadsAsWritten(t, c.topics))
	require.Zero(t, two.steps())
}

// The newest timestep is gone. Whoever scores had come to it and dropped the models before, so these are published
// again, also if they come to be here only later, and whatever the topic holds of them: that was there before.
func TestWhatIsTheNewestAgainIsPublishedAgain(t *testing.T) {
	store := roletest.NewStore()
	opened := func() *series {
		s, err := openSeries(store, 0, 0)
		require.NoError(t, err)
		s.needed = 1
		return s
	}
	before, gone := learnt{at: 1, value: []byte("one")}, learnt{at: 2, value: []byte("two")}
	uncommitted := func(s *series, want ...lethe.Timestep) {
		require.Equal(t, append([]lethe.Timestep{}, want...), append([]lethe.Timestep{}, s.pending().values...))
	}
	s := opened()
	require.NoError(t, s.keep(before, gone))
	require.NoError(t, s.sent())
	require.NoError(t, s.remove([]lethe.Timestep{1}, ""))
	require.NoError(t, s.withdraw(2, 1))
	require.NoError(t, s.removeFrom(2))
	require.NoError(t, s.sent())
	uncommitted(s)
	s = opened()
	require.NoError(t, s.adopt(before))
	uncommitted(s, 1)
	require.NoError(t, s.published(1))
	uncommitted(s, 1)
	uncommitted(opened(), 1)
	require.NoError(t, s.sent())
	uncommitted(s)
	uncommitted(opened())
	require.NoError(t, s.adopt(before))
	uncommitted(s)
}

// A timestep is gone, and comes again as it was before its topic was told so. Whoever scores has dropped its models.
func TestWhatComesAgainBeforeItWasDeletedIsPublishedAgain(t *testing.T) {
	s, err := openSeries(roletest.NewStore(), 0, 0)
	require.NoError(t, err)
	s.needed = 1
	was := learnt{at: 1, value: []byte("one")}
	require.NoError(t, s.keep(was))
	require.NoError(t, s.sent())
	require.NoError(t, s.withdraw(1, lethe.NoTimestep))
	require.NoError(t, s.removeFrom(1))
	require.NoError(t, s.adopt(was))
	require.NoError(t, s.published(1))
	require.Equal(t, []lethe.Timestep{1}, s.pending().values)
}

// The newest timestep is gone before the process that takes over has seen it, and the one before has published nothing
// since. Whoever scores had come to it, and has dropped the models before.
func TestWhoTakesOverPublishesTheNewestAgainThoughItNeverSawWhatIsGone(t *testing.T) {
	for name, fresh := range map[string]bool{"with its folder": false, "with another one": true} {
		t.Run(name, func(t *testing.T) {
			c := newCrew(t)
			plans := []plan{planOf(0, 3), planOf(1, 3), planOf(2, 3)}
			c.join("one", nil)
			dir := c.join("two", nil).logic.o.Dir
			c.assign("one", 1, 0, 1)
			for _, p := range plans {
				publish(t, c.topics, plan{p.shard, p.slices[:2]}.messages(1)...)
			}
			c.run("one", "two")
			c.leave("two")
			for _, p := range plans {
				publish(t, c.topics, plan{p.shard, p.slices[2:]}.messages(1)...)
			}
			c.run("one")
			c.leave("one")
			say(t, c.topics, 3)
			for _, p := range plans {
				publish(t, c.topics, wire.Message{Key: wire.Key{Kind: wire.KindSlice, Shard: p.shard, Timestep: 3}, Deleted: true})
			}
			require.NoError(t, c.topics.Compact())
			_, before := models(t, c.topics)
			if fresh {
				dir = t.TempDir()
			}
			c.begin("two", dir, nil)
			c.assign("two", 2, 0, 1)
			c.run("two")
			_, after := models(t, c.topics)
			for shard := range plans {
				key := wire.Key{Kind: wire.KindModel, Shard: lethe.ShardID(shard), Timestep: 2}
				require.Greater(t, after[key], before[key], key)
			}
		})
	}
}
