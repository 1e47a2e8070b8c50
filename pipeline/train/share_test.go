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
	plans := plansOf(6)
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
	plans := plansOf(5)
	one := c.join("one", nil)
	// Nobody else is a member: it needs no assignment.
	require.NoError(t, one.logic.share.setAssignment(t.Context(), nil))
	publishAll(t, c.topics, plans)
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
	plans := plansOf(4)
	c.join("one", nil)
	c.join("two", nil)
	c.assign("one", 1, 0)
	c.assign("two", 1, 1)
	publishAll(t, c.topics, plans)
	c.run("one", "two")
	// Shard 1 is of partition 1, so two trains it anew.
	plans[1].slices[1] = sliceOf(1, 2, 1, 9)
	publish(t, c.topics, plan{1, plans[1].slices[1:2]}.messages(2)...)
	send(t, c.topics, wire.Command{Phase: wire.PhaseSearch, Steps: []wire.CommandStep{
		{Timestep: 2, Revision: 2, Settled: true, Shards: []lethe.ShardID{1}},
	}})
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
	plans := plansOf(3)
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
	publishAll(t, c.topics, plans)
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
