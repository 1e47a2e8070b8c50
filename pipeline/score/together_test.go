package score

import (
	"context"
	"log/slog"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/canonical"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/train"
	"lethe/pipeline/wire"
)

// slice is the message of a shard's slice.
func (w *scenario) slice(shard lethe.ShardID, at lethe.Timestep) wire.Message {
	key := wire.Key{Kind: wire.KindSlice, Shard: shard, Timestep: at}
	revision := max(1, w.sliceRevs[wire.Key{Shard: shard, Timestep: at}])
	return wire.Message{Key: key, Revision: revision, Payload: canonical.EncodeSlice(w.slices(at)[shard])}
}

// Training and scoring, joined by topics alone: what is served is what the slices
// give, and after an erasure what the slices without the record give.
func TestTrainingAndScoringMeetOnTopics(t *testing.T) {
	topics, w := topics(), newScenario(t, 3)
	o := optionsFor(topics)
	o.Dir = t.TempDir()
	trainer, err := train.New(train.Options{
		Dir: t.TempDir(), Layout: o.Layout, Workers: o.Workers, Kernels: o.Kernels, Secret: secret,
		Instance: "1", Surroundings: o.Surroundings,
	})
	require.NoError(t, err)
	runUntil(t, trainer)
	scorer, _ := running(t, o)
	settle := func(messages ...wire.Message) {
		for _, m := range messages {
			require.NoError(t, wire.Publish(t.Context(), topics, 1, m))
		}
		require.Eventually(t, func() bool { return topics.Idle(2) }, time.Minute, time.Millisecond)
	}
	serves := func() { // what is trained beside the loop comes when nobody reads
		want := &role.Ensemble{Version: w.ensemble(3), Through: 3}
		require.Eventually(t, func() bool { return reflect.DeepEqual(want, scorer.Status().Ensemble) }, time.Minute,
			time.Millisecond)
		settle()
	}
	for at := lethe.Timestep(1); at <= 3; at++ {
		settle(w.graph(at), w.slice(0, at), w.slice(1, at), w.manifest(at))
	}
	serves()
	require.Equal(t, 2*nodes, scorer.Status().Predictions())

	gone := w.erase(2, 0)
	settle(w.graph(2), w.manifest(2))
	for _, shard := range w.replaced(2) {
		settle(w.slice(shard, 2))
	}
	commanded(t, topics, w.command(wire.PhasePurge, []lethe.TransactionID{gone}, 3, 2))
	settle()
	serves()
	require.Equal(t, 2*nodes-1, scorer.Status().Predictions())
	require.Equal(t, map[string]int{"erased": 2, "purged": 1, "suppressed": 1, "swapped": 1}, acks(t, topics))
}

// Two processes that score together publish what one publishes alone, and leave nothing.
func TestTwoScoreAsOne(t *testing.T) {
	w := newScenario(t, 4)
	alone := topics()
	o := optionsFor(alone)
	o.Dir = t.TempDir()
	_, stop := running(t, o)
	publish(t, alone, w, 1, 2, 3, 4)
	idle(t, alone)
	stop()

	together, group := topics(), roletest.NewGroup()
	for _, name := range []string{"one", "two"} {
		member, err := wire.Member{Role: roleName, Identity: name, Run: "1"}.Record()
		require.NoError(t, err)
		require.NoError(t, together.Write(t.Context(), bus.Control, []ingest.Outgoing{member}))
		startHot(t, name, optionsFor(together), group)
	}
	// Once all is read, each knows of the other.
	require.Eventually(t, func() bool { return together.Idle(2) }, time.Minute, time.Millisecond)
	publish(t, together, w, 1, 2, 3, 4)
	want := predictions(t, alone)
	require.Eventually(t, func() bool { return len(predictions(t, together)) == len(want) }, time.Minute, time.Millisecond)
	require.Equal(t, want, predictions(t, together))
}

// startHot starts a process that leads or stands by, and may be stopped before the test ends.
func startHot(t *testing.T, name string, o Options, group *roletest.Group) (stop func()) {
	t.Helper()
	o.Dir, o.Instance = t.TempDir(), name
	topics, log := o.Bus, slog.New(slog.DiscardHandler)
	lead := role.NewLead(roleName, name, group.Member(name), time.Now, log)
	r, err := role.Hot(t.Context(), roleName, lead, func(ctx context.Context, s *role.Standing) (*role.Follower, error) {
		as := o
		as.Standing, as.Bus = s, s.Fenced(topics)
		return New(ctx, as)
	})
	require.NoError(t, err)
	return runUntil(t, r)
}
