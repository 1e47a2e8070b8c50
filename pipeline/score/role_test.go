package score

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest/bus"
	"lethe/metrics/events"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
	"lethe/scoring"
)

// heard collects what the role tells its listener.
type heard struct {
	mu     sync.Mutex
	lag    map[string]int64
	scored int
}

func (h *heard) listener() events.Listener {
	return events.Listener{
		LagMeasured: func(e events.LagMeasured) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.lag[e.Topic] = e.Records
		},
		SnapshotScored: func(events.SnapshotScored) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.scored++
		},
	}
}

// running runs a role until stop, which checks that it ended well.
func running(t *testing.T, o Options) (*Role, func()) {
	t.Helper()
	r, err := New(o)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	var once sync.Once
	stop := func() {
		once.Do(func() {
			cancel()
			require.NoError(t, <-ended)
			require.NoError(t, r.Close())
		})
	}
	t.Cleanup(stop)
	return r, stop
}

func await(t *testing.T, r *Role, through lethe.Timestep) *role.Status {
	t.Helper()
	require.Eventually(t, func() bool {
		s := r.status.Load()
		return s.Ensemble != nil && s.Ensemble.Through == through && s.waiting == 0 && s.fits
	}, 60*time.Second, 10*time.Millisecond, "%+v", r.status.Load())
	return r.Status()
}

// Over topics: models and graphs come as they like. Restarted, the role goes on
// without repeating itself; without its folder it comes to the same predictions
// again, under the same ids.
func TestRunRestartAndRebuild(t *testing.T) {
	client, w, dir := cluster(t), newWorld(t, 4), t.TempDir()
	h := &heard{lag: map[string]int64{}}
	o := optionsFor(dir, client)
	o.Listener = h.listener()
	r, stop := running(t, o)
	for at := lethe.Timestep(1); at <= 3; at++ {
		for shard := range lethe.ShardID(shards) {
			require.NoError(t, wire.Publish(t.Context(), client, 2, w.model(shard, at)))
		}
		require.NoError(t, wire.Publish(t.Context(), client, 1, w.graph(at), w.manifest(at)))
	}
	s := await(t, r, 3)
	require.Equal(t, w.ensemble(3), s.Ensemble.Version)
	require.Equal(t, 2*nodes, s.Predictions())
	stop()
	require.Equal(t, map[string]int64{string(bus.Models): 0, string(bus.Snapshots): 0}, h.lag)
	before := predictions(t, client)
	require.Len(t, before, 2*nodes)

	r, stop = running(t, o)
	require.NoError(t, wire.Publish(t.Context(), client, 1, w.graph(4)))
	require.Eventually(t, func() bool { return r.status.Load().scored == 4 }, 60*time.Second, 10*time.Millisecond)
	stop()
	require.Equal(t, 3, h.scored, "a timestep was scored again")

	require.NoError(t, os.RemoveAll(dir))
	r, stop = running(t, o)
	s = await(t, r, 3)
	require.Equal(t, w.ensemble(3), s.Ensemble.Version)
	stop()
	contents := make(map[string]scoring.Prediction)
	for _, p := range predictions(t, client) {
		known, again := contents[p.ID]
		require.True(t, !again || known == *p, "one id, two predictions")
		contents[p.ID] = *p
	}
	require.Len(t, contents, 3*nodes)
}

// What was measured stays measured, and a withdrawn prediction is not counted.
func TestQualityIsMeasuredOncePredictionsAndLabelsAreThere(t *testing.T) {
	client, w, dir := cluster(t), newWorld(t, 2), t.TempDir()
	o := optionsFor(dir, client)
	r, err := New(o)
	require.NoError(t, err)
	source := bus.TopicPartition{Topic: bus.Snapshots}
	take := func(messages ...wire.Message) {
		for _, m := range messages {
			var err error
			switch m.Key.Kind {
			case wire.KindSnapshot:
				err = r.takeSnapshot(source, wire.Received{Message: m})
			case wire.KindManifest:
				err = r.takeManifest(source, wire.Received{Message: m})
			default:
				err = r.takeModel(source, wire.Received{Message: m})
			}
			require.NoError(t, err)
			require.NoError(t, r.advance(t.Context()))
			r.publishStatus()
		}
	}
	take(w.graph(1), w.graph(2), w.manifest(1), w.model(0, 1), w.model(1, 1))
	require.Equal(t, role.Step{Predictions: nodes}, r.Status().Steps[2], "no label is in")
	take(w.manifest(2))
	q := r.Status().Steps[2].Quality
	require.Equal(t, nodes*2/3, q.Labelled)
	require.NotNil(t, q.AUC)

	labelled := 0
	for w.graphs[2].Nodes[labelled].Label == lethe.Unknown {
		labelled++
	}
	w.erase(2, labelled)
	take(w.graph(2), w.manifest(2))
	require.Equal(t, nodes-1, r.Status().Predictions())
	require.Equal(t, nodes*2/3-1, r.Status().Steps[2].Quality.Labelled)
	want := r.Status().Steps
	require.NoError(t, r.Close())
	r, err = New(o)
	require.NoError(t, err)
	require.Equal(t, want, r.Status().Steps, "after a restart")
	require.NoError(t, r.Close())
}

func TestAnotherNumberOfShardsIsNamed(t *testing.T) {
	client, w, dir := cluster(t), newWorld(t, 1), t.TempDir()
	o := optionsFor(dir, client)
	o.Shards = 3
	r, err := New(o)
	require.NoError(t, err)
	err = r.takeManifest(bus.TopicPartition{}, wire.Received{Message: w.manifest(1)})
	require.ErrorContains(t, err, "manifest names 2 slices, but partition.shards is 3")
	require.NoError(t, r.Close())

	o.Shards = 1
	r, err = New(o)
	require.NoError(t, err)
	err = r.takeModel(bus.TopicPartition{}, wire.Received{Message: w.model(1, 1)})
	require.ErrorContains(t, err, "partition.shards is 1")
	require.NoError(t, r.Close())
}

// Damage anywhere in a message is an error that says which, before anything is
// stored.
func TestDamagedMessagesAreRefused(t *testing.T) {
	client, w := cluster(t), newWorld(t, 1)
	r, err := New(optionsFor(t.TempDir(), client))
	require.NoError(t, err)
	for _, m := range []wire.Message{w.graph(1), w.manifest(1), w.model(0, 1)} {
		topic := bus.Snapshots
		if m.Key.Kind == wire.KindModel {
			topic = bus.Models
		}
		m.Payload[len(m.Payload)/2] ^= 1
		require.NoError(t, wire.Publish(t.Context(), client, 1, m))
		tail, err := client.Tail(map[bus.TopicPartition]int64{{Topic: topic}: bus.FromStart})
		require.NoError(t, err)
		var batch bus.Batch
		for len(batch.Records) == 0 {
			batch, err = tail.Next(t.Context())
			require.NoError(t, err)
		}
		require.NoError(t, tail.Close())
		batch.Records = batch.Records[len(batch.Records)-1:]
		require.ErrorContains(t, r.takeMessages(wire.NewReader(), batch), "message "+m.Key.String())
	}
	require.Empty(t, r.state.links)
	require.Empty(t, r.state.revisions)
	require.Empty(t, r.state.candidates)
	require.NoError(t, r.Close())
}
