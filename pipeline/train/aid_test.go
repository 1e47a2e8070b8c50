package train

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
	"lethe/scoring/ensemble"
)

// helping are two processes of which the first has the meta-model, after the second has asked
// about some slices for it. They hear each other until the test ends.
type helping struct {
	*crew
	o     Options
	plans []plan
}

const helpedWith = 2

func newHelping(t *testing.T) helping {
	c := newCrew(t)
	plans := []plan{planOf(0, helpedWith), planOf(1, helpedWith), planOf(2, helpedWith)}
	h := helping{c, mixed(t, t.TempDir(), c.topics), plans}
	kinds := func(own *Options) { own.Layout, own.Meta, own.ShareFrom = h.o.Layout, h.o.Meta, 1 }
	for name, partition := range map[string]int{"one": 0, "two": 1} {
		m := c.join(name, kinds)
		c.assign(name, 1, partition)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- m.logic.aid.b.Run(ctx, roleName, m.logic.o.Surroundings) }()
		t.Cleanup(func() {
			stop()
			require.NoError(t, <-ended)
		})
	}
	say(t, c.topics, helpedWith)
	for _, p := range h.plans {
		publish(t, c.topics, p.messages(1)...)
	}
	c.run("one")
	require.Empty(t, h.answers())
	c.run("two")
	require.NotEmpty(t, h.answers(), "two has all models, and one does not know of them")
	return h
}

// answers are the keys that answers.v1 holds.
func (h helping) answers() map[string]bool {
	keys := make(map[string]bool)
	require.NoError(h.t, h.topics.ReadAll(h.t.Context(), bus.Answers, func(rec ingest.Record) error {
		if keys[string(rec.Key)] = true; rec.Tombstone() {
			delete(keys, string(rec.Key))
		}
		return nil
	}))
	return keys
}

// heard are the answers of the topic as a process knows them, once it knows all.
func (h helping) heard(name string) (all []*ensemble.Said) {
	h.t.Helper()
	reader := wire.NewReader()
	var said []*wire.Said
	require.NoError(h.t, h.topics.ReadAll(h.t.Context(), bus.Answers, func(rec ingest.Record) error {
		source := bus.TopicPartition{Topic: bus.Answers, Partition: rec.Partition}
		messages, err := reader.Read(bus.Batch{Source: source, Records: []ingest.Record{rec}, Next: rec.Offset + 1})
		for _, m := range messages {
			s, err := wire.DecodeSaid(m.Payload)
			require.NoError(h.t, err)
			said = append(said, s)
		}
		return err
	}))
	b := h.mates[name].logic.aid.b
	require.Eventually(h.t, func() bool {
		all = nil
		for _, s := range said {
			if known := b.Heard(s.Question, s.Key()); known != nil {
				all = append(all, known)
			}
		}
		return len(all) == len(said)
	}, 10*time.Second, time.Millisecond)
	return all
}

// runUntilWithdrawn has both work until nothing stands on the topic: they read it beside their work.
func (h helping) runUntilWithdrawn() {
	h.t.Helper()
	for deadline := time.Now().Add(time.Minute); len(h.answers()) > 0; {
		h.run("one", "two")
		require.True(h.t, time.Now().Before(deadline), "%v", h.answers())
	}
}

// What others have asked is used, and withdrawn; the meta-model has the same bytes.
func TestOthersAskForTheMetaModel(t *testing.T) {
	h := newHelping(t)
	h.heard("one")
	h.run("one")
	h.run("one", "two")
	require.Equal(t, whole(t, h.o, helpedWith, h.plans...), payloads(t, h.topics))
	h.runUntilWithdrawn()
}

// It is not asked again: who says something else is believed, as all that carries the deployment's code.
func TestWhatOthersWereToldIsNotAskedAgain(t *testing.T) {
	h := newHelping(t)
	for _, said := range h.heard("one") {
		for i := range said.Probabilities {
			said.Probabilities[i] = .5
		}
	}
	h.run("one")
	over := wire.Key{Kind: wire.KindModel, Shard: lethe.ShardID(h.o.Layout.Models()), Timestep: helpedWith}
	got := payloads(t, h.topics)
	require.Contains(t, got, over)
	require.NotEqual(t, whole(t, h.o, helpedWith, h.plans...)[over], got[over])
}

// Answers about models that are trained on other slices by now are of no use, and go, too.
func TestAnswersAboutFormerModelsAreNotUsed(t *testing.T) {
	h := newHelping(t)
	for _, said := range h.heard("one") {
		clear(said.Probabilities)
	}
	h.plans[1].slices[1] = sliceOf(1, 2, 1, 9)
	publish(t, h.topics, plan{1, h.plans[1].slices[1:]}.messages(2)...)
	h.runUntilWithdrawn()
	require.Equal(t, whole(t, h.o, helpedWith, h.plans...), payloads(t, h.topics))
}

// Small timesteps are not shared.
func TestSmallTimestepsAreLearntAlone(t *testing.T) {
	h := newHelping(t)
	transactions := 0
	for _, p := range h.plans {
		transactions += len(p.slices[helpedWith-1].Nodes)
	}
	two := h.mates["two"].logic
	require.NotNil(t, two.aid.work)
	for from, shared := range map[int]bool{transactions: true, transactions + 1: false} {
		two.o.ShareFrom = from
		require.NoError(t, two.aid.begin(helpedWith))
		require.Equal(t, shared, two.aid.work != nil)
	}
}
