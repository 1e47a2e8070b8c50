package train

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

func (neverShares) Share(context.Context, bus.GroupConfig, bus.Member) error { return nil }

func (neverShares) Positions(
	context.Context, bus.GroupConfig, []bus.TopicPartition,
) (map[bus.TopicPartition]int64, error) {
	return nil, nil
}

func (neverShares) Session() time.Duration { return time.Minute }

// Two processes share what one would train, each trains a part, and what they publish is what
// one would have. Who loses the other goes on where that one has stopped.
func TestProcessesShareTheModels(t *testing.T) {
	c := newCrew(t)
	plans := []plan{planOf(0, 6), planOf(1, 6), planOf(2, 6)}
	o := mixed(t, t.TempDir(), c.topics)
	kinds := func(own *Options) { own.Layout, own.Meta = o.Layout, o.Meta }
	one, two := c.join("one", kinds), c.join("two", kinds)
	c.assign("one", 1, 0)
	c.assign("two", 1, 1)
	send := func(from, to int) {
		for _, p := range plans {
			publish(t, c.topics, plan{p.shard, p.slices[from:to]}.messages(1)...)
		}
	}
	say(t, c.topics, 1)
	send(0, 4)
	c.run("one", "two")
	until := func(n int) []plan {
		out := make([]plan, len(plans))
		for i, p := range plans {
			out[i] = plan{p.shard, p.slices[:n]}
		}
		return out
	}
	require.Equal(t, whole(t, o, 1, until(4)...), payloads(t, c.topics))
	require.Positive(t, one.steps())
	require.Positive(t, two.steps())
	require.Equal(t, one.logic.models[1].kept, two.logic.models[1].kept, "each has what the other made")

	// It is killed, its unit goes to the other, which trains what is new and nothing else.
	before := one.steps()
	c.leave("two")
	c.assign("one", 2, 0, 1)
	c.run("one")
	require.Equal(t, before, one.steps(), "nothing is trained again")
	send(4, 6)
	c.run("one")
	require.Equal(t, whole(t, o, 1, plans...), payloads(t, c.topics))
	require.Equal(t, before+2*o.Layout.Models(), one.steps())
}

// A process that comes to a stream that others have trained makes nothing anew of it.
func TestWhoComesLaterAdoptsWhatIsThere(t *testing.T) {
	c := newCrew(t)
	plans := []plan{planOf(0, 5), planOf(1, 5), planOf(2, 5)}
	one := c.join("one", nil)
	// Nobody else is a member: it needs no assignment.
	require.NoError(t, one.logic.share.setAssignment(t.Context(), nil))
	for _, p := range plans {
		publish(t, c.topics, p.messages(1)...)
	}
	c.run("one")
	require.Equal(t, wanted(t, one.logic.o, plans...), payloads(t, c.topics))
	_, times := models(t, c.topics)

	two := c.join("two", nil)
	c.leave("one")
	c.assign("two", 2, 0, 1)
	c.run("two")
	require.Zero(t, two.steps())
	require.Equal(t, wanted(t, one.logic.o, plans...), payloads(t, c.topics))
	_, again := models(t, c.topics)
	require.Equal(t, times, again, "what is published already is not again")
	c.leave("two")
	kept, err := ReadHistory(vfs.Default, two.logic.o.Dir, 0)
	require.NoError(t, err)
	require.True(t, kept.Adopted[0])
}

// An erasure waits for both, and is acknowledged by both when what one of them trained anew
// has come to the other.
func TestEveryMemberAnswersAnErasure(t *testing.T) {
	c := newCrew(t)
	plans := []plan{planOf(0, 4), planOf(1, 4), planOf(2, 4)}
	c.join("one", nil)
	c.join("two", nil)
	c.assign("one", 1, 0)
	c.assign("two", 1, 1)
	for _, p := range plans {
		publish(t, c.topics, p.messages(1)...)
	}
	c.run("one", "two")
	// Shard 1 is of partition 1, so two trains it anew.
	plans[1].slices[1] = sliceOf(1, 2, 1, 9)
	publish(t, c.topics, plan{1, plans[1].slices[1:2]}.messages(2)...)
	command(t, c.topics, wire.PhaseSearch, wire.CommandStep{
		Timestep: 2, Revision: 2, Settled: true, Shards: []lethe.ShardID{1},
	})
	c.run("one")
	require.Empty(t, answered(t, c.topics, deletions.StepPurged), "it waits for the model that two has to make")
	c.run("one", "two")
	require.ElementsMatch(t, []string{"one", "two"}, answered(t, c.topics, deletions.StepPurged))
	require.ElementsMatch(t, []string{"one", "two"}, answered(t, c.topics, deletions.StepScanned))
	require.Equal(t, wanted(t, c.mates["one"].logic.o, plans...), payloads(t, c.topics))
}

// Slices change and become again what they were while one does not read: what it has meanwhile
// adopted of their last state goes with their first change, and comes to it no second time.
func TestWhatAdoptedModelsWereMadeOfChangesAndReturns(t *testing.T) {
	c := newCrew(t)
	plans := []plan{planOf(0, 3), planOf(1, 3), planOf(2, 3)}
	o := mixed(t, t.TempDir(), c.topics)
	kinds := func(own *Options) { own.Layout, own.Meta = o.Layout, o.Meta }
	one, two := c.join("one", kinds), c.join("two", kinds)
	c.assign("one", 1, 0, 1)
	c.assign("two", 1)
	say(t, c.topics, 1)
	send := func(s *lethe.Slice, revision lethe.Revision) {
		publish(t, c.topics, plan{1, []*lethe.Slice{s}}.messages(revision)...)
		c.run("one")
	}
	for _, p := range plans {
		publish(t, c.topics, p.messages(1)...)
	}
	c.run("one", "two")
	require.Zero(t, two.steps())
	// What is read last is a slice, so that models come first next, and of them the newest alone.
	first := plans[1].slices[2]
	send(first, 2)
	c.run("two")
	send(sliceOf(1, 3, 2, 9), 3)
	send(first, 4)
	slicesStay := map[bus.TopicPartition]int64{{Topic: bus.Slices, Partition: 0}: 0, {Topic: bus.Slices, Partition: 1}: 0}
	require.NoError(t, c.topics.CompactBelow(slicesStay))
	c.run("two")
	require.Zero(t, two.steps(), "they are read again")
	for i := range one.logic.models {
		require.Equal(t, one.logic.models[i].newest(), two.logic.models[i].newest(), "model %d", i)
	}
	require.Equal(t, whole(t, o, 1, plans...), payloads(t, c.topics))
}

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
	require.NotEqual(t, want, payloadsAsWritten(t, c.topics))
	c.run("two")
	require.Equal(t, want, payloadsAsWritten(t, c.topics))
	require.NoError(t, wire.Publish(t.Context(), c.topics, 2, wire.Message{Key: key, Deleted: true}))
	c.run("two")
	require.Equal(t, want, payloadsAsWritten(t, c.topics), "a deletion by another does not stay either")
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
	require.Equal(t, want, payloadsAsWritten(t, c.topics))

	c.leave("two")
	publish(t, c.topics, old)
	c.run("three")
	require.NotEqual(t, want, payloadsAsWritten(t, c.topics), "it is nobody's to put right now")
	c.assign("three", 3, 0, 1)
	c.run("three")
	require.Equal(t, want, payloadsAsWritten(t, c.topics))
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
	require.Equal(t, want, payloadsAsWritten(t, c.topics))
}

// A process that has lost a model and not heard of it hears of the one that has it, and takes it over again: so
// what it publishes of slices that have changed since counts, until it has read them. The other puts it right,
// for the first may learn that it has lost it before that.
func TestWhoIsBehindIsOverwritten(t *testing.T) {
	c := newCrew(t)
	plans := []plan{planOf(0, 3), planOf(1, 3), planOf(2, 3)}
	one := c.join("one", nil)
	c.assign("one", 1, 0, 1)
	for _, p := range plans {
		publish(t, c.topics, p.messages(1)...)
	}
	c.run("one")
	newest, _ := models(t, c.topics)
	behind := newest[wire.Key{Kind: wire.KindModel, Shard: 1, Timestep: 3}]

	two := c.join("two", nil)
	c.assign("two", 2, 0, 1)
	plans[1].slices[2] = sliceOf(1, 3, 2, 9)
	publish(t, c.topics, plan{1, plans[1].slices[2:]}.messages(2)...)
	c.run("two")
	want := wanted(t, two.logic.o, plans...)
	require.Equal(t, want, payloadsAsWritten(t, c.topics))

	behind.Owner.Generation = 3
	publish(t, c.topics, behind)
	c.assign("one", 3)
	c.run("one", "two")
	require.Equal(t, want, payloadsAsWritten(t, c.topics))
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
	require.Equal(t, want, payloadsAsWritten(t, c.topics))
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
	require.Equal(t, want, payloadsAsWritten(t, c.topics))
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
	require.Equal(t, want, payloadsAsWritten(t, c.topics))

	behind.Owner = wire.Owner{Generation: 2, Instance: "three"}
	publish(t, c.topics, behind)
	c.leave("one")
	c.run("two")
	require.NotEqual(t, want, payloadsAsWritten(t, c.topics), "it is nobody's to put right now")
	c.assign("two", 3, 0, 1)
	c.run("two")
	require.Equal(t, want, payloadsAsWritten(t, c.topics))
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
			publish(t, c.topics, wire.Message{Key: wire.Key{Kind: wire.KindSlice, Shard: p.shard, Timestep: at}, Deleted: true})
			if last {
				plans[i].slices = p.slices[:2]
				continue
			}
			plans[i].slices = []*lethe.Slice{p.slices[0], sliceOf(p.shard, 3, 1, 5)}
			publish(t, c.topics, plan{p.shard, plans[i].slices[1:]}.messages(2)...)
		}
		c.run("one")
		want := wanted(t, c.mates["one"].logic.o, plans...)
		require.Equal(t, want, payloadsAsWritten(t, c.topics))
		late.Owner.Generation = 2 // as if it had the model
		publish(t, c.topics, late)
		require.NotEqual(t, want, payloadsAsWritten(t, c.topics))
		c.run("one")
		require.Equal(t, want, payloadsAsWritten(t, c.topics), "last %v", last)
	}
}

// Without a right to the group brokers say so each second; a log that repeats it hides everything else.
func TestTroubleWithTheGroupIsToldOnce(t *testing.T) {
	c := newCrew(t)
	var log bytes.Buffer
	m := c.join("one", func(o *Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	group := func() int { return strings.Count(log.String(), "out of reach") }
	for range 3 {
		m.logic.share.reportTrouble(errors.New("not authorised"))
	}
	require.Equal(t, 1, group())
	m.logic.share.reportTrouble(errors.New("away"))
	require.Equal(t, 2, group())
	require.NoError(t, m.logic.share.setAssignment(t.Context(), nil))
	m.logic.share.reportTrouble(errors.New("away"))
	require.Equal(t, 3, group())
}
