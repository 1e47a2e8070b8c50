package score

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/canonical"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
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
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- trainer.Run(ctx) }()
	scorer, stop := running(t, o)
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
	records, err := w.command(wire.PhasePurge, []lethe.TransactionID{gone}, 3, 2).Records()
	require.NoError(t, err)
	require.NoError(t, topics.Write(t.Context(), bus.Control, records))
	settle()
	serves()
	require.Equal(t, 2*nodes-1, scorer.Status().Predictions())
	require.Equal(t, map[string]int{"erased": 2, "purged": 1, "suppressed": 1, "swapped": 1}, acks(t, topics))
	stop()
	cancel()
	require.NoError(t, <-ended)
	require.NoError(t, trainer.Close())
}
