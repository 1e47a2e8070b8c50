package train

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
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
// again whatever the topic holds of them, and once.
func TestWhatIsTheNewestAgainIsPublishedAgain(t *testing.T) {
	c, plans := trainedByOne(t)
	for i, p := range plans {
		publish(t, c.topics, wire.Message{Key: wire.Key{Kind: wire.KindSlice, Shard: p.shard, Timestep: 3}, Deleted: true})
		plans[i].slices = p.slices[:2]
	}
	c.run("one")
	say(t, c.topics, 3)
	want := wanted(t, c.mates["one"].logic.o, plans...)
	for shard := range plans {
		delete(want, wire.Key{Kind: wire.KindModel, Shard: lethe.ShardID(shard), Timestep: 1}) // no score waits for it
	}
	check := func() {
		t.Helper()
		c.run("one")
		require.Equal(t, want, payloads(t, c.topics))
		newest, times := models(t, c.topics)
		for key := range want {
			require.Equal(t, 2, times[key], key)
			require.True(t, newest[key].Last, "score takes no other that is older than what it serves")
		}
	}
	check()
	say(t, c.topics, 2)
	check()
}

// A timestep is gone, and comes again as it was before its topic was told so. Whoever scores has dropped its models.
func TestWhatComesAgainBeforeItWasDeletedIsPublishedAgain(t *testing.T) {
	c, plans := trainedByOne(t)
	for _, p := range plans {
		publish(t, c.topics, wire.Message{Key: wire.Key{Kind: wire.KindSlice, Shard: p.shard, Timestep: 3}, Deleted: true})
		publish(t, c.topics, plan{p.shard, p.slices[2:]}.messages(3)...)
	}
	c.run("one")
	require.Equal(t, wanted(t, c.mates["one"].logic.o, plans...), payloads(t, c.topics))
	newest, times := models(t, c.topics)
	for shard := range plans {
		key := wire.Key{Kind: wire.KindModel, Shard: lethe.ShardID(shard), Timestep: 3}
		require.Equal(t, 2, times[key], key)
		require.EqualValues(t, 3, newest[key].Revision)
	}
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
