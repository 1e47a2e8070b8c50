package train

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/pipeline/wire"
)

// A process that hung while its models went to another publishes what was unlearnt meanwhile.
// Readers leave it out, and the owner puts its own in its place.
func TestAStaleOwnerIsOverwritten(t *testing.T) {
	c, plans := trainedByOne(t)
	newest, _ := models(t, c.topics)
	key := wire.Key{Kind: wire.KindModel, Shard: 1, Timestep: 3}
	old := newest[key]
	require.Equal(t, "one", old.Owner.Instance)

	two := c.join("two", nil)
	c.assign("two", 2, 0, 1)
	plans[1].slices[2] = sliceOf(1, 3, 2, 9)
	publish(t, c.topics, plan{1, plans[1].slices[2:]}.messages(2)...)
	c.run("two")
	want := wanted(t, two.logic.o, plans...)
	require.Equal(t, want, payloads(t, c.topics))

	publish(t, c.topics, old)
	require.NotEqual(t, want, payloads(t, c.topics))
	c.run("two")
	require.Equal(t, want, payloads(t, c.topics))
	require.NoError(t, wire.Publish(t.Context(), c.topics, 2, wire.Message{Key: key, Deleted: true}))
	c.run("two")
	require.Equal(t, want, payloads(t, c.topics), "a deletion by another does not stay either")
}

// What somebody published who had lost a model is put right by whoever takes it over next, which may come to
// it before it has the model: the one who had it then was killed.
func TestWhatAStaleOwnerWroteIsPutRightByTheNextOne(t *testing.T) {
	c, plans := trainedByOne(t)
	newest, _ := models(t, c.topics)
	old := newest[wire.Key{Kind: wire.KindModel, Shard: 1, Timestep: 3}]

	two, three := c.join("two", nil), c.join("three", nil)
	c.assign("two", 2, 0, 1)
	c.assign("three", 2)
	plans[1].slices[2] = sliceOf(1, 3, 2, 9)
	publish(t, c.topics, plan{1, plans[1].slices[2:]}.messages(2)...)
	c.run("two", "three")
	want := wanted(t, two.logic.o, plans...)
	require.Equal(t, want, payloads(t, c.topics))

	c.leave("two")
	publish(t, c.topics, old)
	c.run("three")
	require.NotEqual(t, want, payloads(t, c.topics), "it is nobody's to put right now")
	c.assign("three", 3, 0, 1)
	c.run("three")
	require.Equal(t, want, payloads(t, c.topics))
	require.Zero(t, three.steps())

	// Or it begins anew, and reads at once what it had said itself and what stands there now.
	dir := three.logic.o.Dir
	c.leave("three")
	newest, _ = models(t, c.topics)
	own := newest[old.Key]
	own.Revision, old.Revision = 1, 1 // in one batch
	publish(t, c.topics, own, old)
	c.begin("three", dir, nil)
	c.assign("three", 4, 0, 1)
	c.run("three")
	require.Equal(t, want, payloads(t, c.topics))
}

// A process that has lost a model and not heard of it hears of the one that has it, and takes it over again: so
// what it publishes of slices that have changed since counts, until it has read them. The other puts it right,
// for the first may learn that it has lost it before that.
func TestWhoIsBehindIsOverwritten(t *testing.T) {
	c, plans := trainedByOne(t)
	one := c.mates["one"]
	newest, _ := models(t, c.topics)
	behind := newest[wire.Key{Kind: wire.KindModel, Shard: 1, Timestep: 3}]

	two := c.join("two", nil)
	c.assign("two", 2, 0, 1)
	plans[1].slices[2] = sliceOf(1, 3, 2, 9)
	publish(t, c.topics, plan{1, plans[1].slices[2:]}.messages(2)...)
	c.run("two")
	want := wanted(t, two.logic.o, plans...)
	require.Equal(t, want, payloads(t, c.topics))

	behind.Owner.Generation = 3
	publish(t, c.topics, behind)
	c.assign("one", 3)
	c.run("one", "two")
	require.Equal(t, want, payloads(t, c.topics))
	require.Equal(t, one.logic.models[1].kept, two.logic.models[1].kept)
}

// What somebody published who had lost a model is taken if it is what the slices give, and not said again: whoever
// comes late may find nothing else on the topic.
func TestWhatAStaleOwnerWroteCountsIfItIsTheSame(t *testing.T) {
	c, plans := trainedByOne(t)
	two := c.join("two", nil)
	c.assign("two", 2, 0, 1)
	plans[1].slices[1] = sliceOf(1, 2, 1, 9)
	publish(t, c.topics, plan{1, plans[1].slices[1:2]}.messages(2)...)
	c.run("two")
	want := wanted(t, two.logic.o, plans...)
	require.Equal(t, want, payloads(t, c.topics))
	kept := two.logic.models[1].kept
	newest, _ := models(t, c.topics)
	late := newest[wire.Key{Kind: wire.KindModel, Shard: 1, Timestep: 3}]
	require.Equal(t, "two", late.Owner.Instance)

	late.Owner = wire.Owner{Generation: 1, Instance: "one"} // it was as far, and hung
	publish(t, c.topics, late)
	require.NoError(t, c.topics.Compact())
	_, times := models(t, c.topics)
	c.leave("two")
	three := c.join("three", nil)
	c.assign("three", 2)
	c.run("three")
	require.Equal(t, kept, three.logic.models[1].kept)
	c.assign("three", 3, 0, 1)
	c.run("three")
	require.Zero(t, three.steps())
	_, again := models(t, c.topics)
	require.Equal(t, times, again, "nothing is published again")
	require.Equal(t, want, payloads(t, c.topics))
}

// Whoever takes a model over looks at what is on its topic, though it has read it before: the one before it may have
// been behind with the slices, and have said last what it made of earlier ones.
func TestWhoTakesOverPutsRightWhatItHasRead(t *testing.T) {
	c, plans := trainedByOne(t)
	newest, _ := models(t, c.topics)
	behind := newest[wire.Key{Kind: wire.KindModel, Shard: 1, Timestep: 3}]
	plans[1].slices[2] = sliceOf(1, 3, 2, 9)
	publish(t, c.topics, plan{1, plans[1].slices[2:]}.messages(2)...)
	c.run("one")
	two := c.join("two", nil)
	c.assign("two", 1)
	c.run("two")
	want := wanted(t, two.logic.o, plans...)
	require.Equal(t, want, payloads(t, c.topics))

	behind.Owner = wire.Owner{Generation: 2, Instance: "three"}
	publish(t, c.topics, behind)
	c.leave("one")
	c.run("two")
	require.NotEqual(t, want, payloads(t, c.topics), "it is nobody's to put right now")
	c.assign("two", 3, 0, 1)
	c.run("two")
	require.Equal(t, want, payloads(t, c.topics))
	require.Zero(t, two.steps())
}

// A model that is published late of a timestep that is gone does not stay, also if nothing tells that its maker had
// lost it: of the owner's own records compaction has left none.
func TestALateModelOfATimestepThatIsGoneIsWithdrawn(t *testing.T) {
	for _, last := range []bool{false, true} {
		c, plans := trainedByOne(t)
		at := lethe.Timestep(2)
		if last {
			at = 3
		}
		newest, _ := models(t, c.topics)
		late := newest[wire.Key{Kind: wire.KindModel, Shard: 1, Timestep: at}]
		for i, p := range plans {
			publish(t, c.topics, gone(p.shard, at))
			if last {
				plans[i].slices = p.slices[:2]
				continue
			}
			plans[i].slices = []*lethe.Slice{p.slices[0], sliceOf(p.shard, 3, 1, 5)}
			publish(t, c.topics, plan{p.shard, plans[i].slices[1:]}.messages(2)...)
		}
		c.run("one")
		want := wanted(t, c.mates["one"].logic.o, plans...)
		require.Equal(t, want, payloads(t, c.topics))
		late.Owner.Generation = 2 // as if it had the model
		publish(t, c.topics, late)
		require.NotEqual(t, want, payloads(t, c.topics))
		c.run("one")
		require.Equal(t, want, payloads(t, c.topics), "last %v", last)
	}
}
