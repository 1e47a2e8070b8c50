package train

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/canonical"
	"lethe/pipeline/wire"
)

// A deletion, and what it deletes, may go from the topic before a process has come to it that has read the latter. Once
// that takes over, it publishes what is missing.
func TestWhoTakesOverPublishesWhatIsNotThereAnyMore(t *testing.T) {
	c, _ := trainedByOne(t)
	want := payloads(t, c.topics)
	two := c.join("two", nil)
	c.run("two")
	c.leave("one")
	publish(t, c.topics, wire.Message{Key: wire.Key{Kind: wire.KindModel, Shard: 1, Timestep: 3}, Deleted: true})
	require.NoError(t, c.topics.Compact())
	require.Len(t, payloads(t, c.topics), len(want)-1)
	c.assign("two", 2, 0, 1)
	c.run("two")
	require.Equal(t, want, payloads(t, c.topics))
	require.Zero(t, two.steps())
}

// The newest timestep is gone. Whoever scores had come to it and dropped the models before, so these are published
// again whatever the topic holds of them, and once.
func TestWhatIsTheNewestAgainIsPublishedAgain(t *testing.T) {
	c, plans := trainedByOne(t)
	for i, p := range plans {
		publish(t, c.topics, gone(p.shard, 3))
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
		publish(t, c.topics, gone(p.shard, 3))
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
			plans := plansOf(3)
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
				publish(t, c.topics, gone(p.shard, 3))
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

// A slice changes and becomes again what it was, while models of others are read: the first of a model goes with the
// change, those behind it come once it is over. The first is read again then, though it was adopted before.
func TestAModelThatIsMissingBeforeOthersIsReadAgain(t *testing.T) {
	c := newCrew(t)
	plans := plansOf(3)
	c.join("one", nil)
	two := c.join("two", nil)
	c.assign("one", 1, 0, 1)
	c.assign("two", 1)
	publishAll(t, c.topics, plans)
	c.run("one", "two")
	require.Zero(t, two.steps())
	want := wanted(t, two.logic.o, plans...)
	require.Equal(t, want, payloads(t, c.topics))

	m := two.logic.models[1]
	require.NoError(t, m.remove([]lethe.Timestep{1}))
	c.run("two")
	require.Equal(t, []lethe.Timestep{1, 2, 3}, m.kept)
	for key, digest := range want {
		if key.Shard == 1 {
			value, err := m.value(key.Timestep)
			require.NoError(t, err)
			require.Equal(t, digest, canonical.DigestOf(value))
		}
	}
	require.Equal(t, want, payloads(t, c.topics))
}

// Who published a model, and was to say that no score waits for it any more, is killed before: who has its unit
// next says it, though it has never had the model.
func TestWhatTheOneBeforeHadToWithdraw(t *testing.T) {
	before, c := newCrew(t), newCrew(t)
	plans := plansOf(4)
	o := mixed(t, t.TempDir(), c.topics)
	kinds := func(own *Options) { own.Layout, own.Meta = o.Layout, o.Meta }
	before.join("one", kinds)
	before.assign("one", 1, 0, 1)
	say(t, before.topics, 1)
	c.join("one", kinds)
	two := c.join("two", kinds)
	say(t, c.topics, 3)
	for _, p := range plans {
		publish(t, before.topics, p.messages(1)...)
		publish(t, c.topics, p.messages(1)...)
	}
	before.run("one")
	c.run("two") // it knows what is needed before it hears of a model
	published, _ := models(t, before.topics)
	publish(t, c.topics, slices.Collect(maps.Values(published))...)
	c.run("two")
	require.Equal(t, whole(t, o, 1, plans...), payloads(t, c.topics), "it is nobody's to say")
	c.assign("two", 2, 0, 1)
	c.run("two")
	require.Equal(t, whole(t, o, 3, plans...), payloads(t, c.topics))
	require.Zero(t, two.steps())
	out, err := two.logic.publish()
	require.NoError(t, err)
	require.Empty(t, out.Messages)
}
