package score

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest/bus"
	"lethe/internal/testbroker"
	"lethe/metrics/events"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
)

// heard collects what the role tells its listener.
type heard struct {
	mu     sync.Mutex
	lag    map[string]int64
	scored int
}

func (h *heard) listener() events.Listener {
	return events.Tee(
		events.On(func(e events.LagMeasured) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.lag[e.Topic] = e.Records
		}),
		events.On(func(events.SnapshotScored) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.scored++
		}),
	)
}

// running runs a role until stop, which checks that it ended well.
func running(t *testing.T, o Options) (*role.Follower, func()) {
	t.Helper()
	r, err := New(t.Context(), o)
	require.NoError(t, err)
	return r, runUntil(t, r)
}

// runUntil runs a role until the function that it returns is called, or the test ends.
func runUntil(t *testing.T, r role.Role) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-ended)
		require.NoError(t, r.Close())
	})
	t.Cleanup(stop)
	return stop
}

// idle waits until the role has nothing more to do.
func idle(t *testing.T, topics *roletest.Bus) {
	t.Helper()
	require.Eventually(t, func() bool { return topics.Idle(1) }, time.Minute, time.Millisecond)
}

// publish sends timesteps as the other roles do: their models, graphs and manifests.
func publish(t *testing.T, topics wire.Publisher, w *scenario, timesteps ...lethe.Timestep) {
	t.Helper()
	for _, at := range timesteps {
		w.publishModels(t, topics, at)
		require.NoError(t, wire.Publish(t.Context(), topics, 1, w.graph(at), w.manifest(at)))
	}
}

// Over topics: models and graphs come as they like. Restarted, the role goes on without repeating itself, and without
// its folder too: it serves the same ensemble, and scores what comes next.
func TestRunRestartAndRebuild(t *testing.T) {
	topics, w := topics(), newScenario(t, 5)
	h := &heard{lag: map[string]int64{}}
	o := optionsFor(topics)
	o.Dir, o.Listener = t.TempDir(), events.Tee(h.listener())
	r, stop := running(t, o)
	publish(t, topics, w, 1, 2, 3)
	idle(t, topics)
	want := &role.Ensemble{Version: w.ensemble(3), Through: 3}
	require.Equal(t, want, r.Status().Ensemble)
	require.Equal(t, 2*nodes, r.Status().Predictions())
	stop()
	require.Equal(t, map[string]int64{string(bus.Models): 0, string(bus.Snapshots): 0}, h.lag)
	require.Len(t, predictions(t, topics), 2*nodes)

	_, stop = running(t, o)
	require.NoError(t, wire.Publish(t.Context(), topics, 1, w.graph(4)))
	idle(t, topics)
	stop()
	require.Equal(t, 3, h.scored, "a timestep was scored again")

	require.NoError(t, os.RemoveAll(o.Dir))
	r, stop = running(t, o)
	idle(t, topics)
	require.Equal(t, want, r.Status().Ensemble)
	require.Equal(t, 3, h.scored, "a timestep was scored again")
	publish(t, topics, w, 5)
	require.NoError(t, wire.Publish(t.Context(), topics, 1, w.manifest(4)))
	w.publishModels(t, topics, 4)
	idle(t, topics)
	stop()
	require.Equal(t, 4, h.scored)
	require.Len(t, predictions(t, topics), 4*nodes)
}

// The models that a settled timestep lacks are counted until its ensemble is served.
func TestStatus_ModelsOfASettledTimestepAreMissing(t *testing.T) {
	topics, w := topics(), newScenario(t, 2)
	o := optionsFor(topics)
	o.Dir = t.TempDir()
	r, _ := running(t, o)
	require.NoError(t, wire.Publish(t.Context(), topics, 1, w.graph(1)))
	idle(t, topics)
	require.Zero(t, r.Status().Awaited, "its labels may come")
	require.NoError(t, wire.Publish(t.Context(), topics, 1, w.manifest(1)))
	idle(t, topics)
	require.Equal(t, role.Awaited{Through: 1, Models: shards}, r.Status().Awaited)
	require.NoError(t, wire.Publish(t.Context(), topics, 2, w.model(0, 1)))
	idle(t, topics)
	require.Equal(t, role.Awaited{Through: 1, Present: 1, Models: shards}, r.Status().Awaited)
	w.publishModels(t, topics, 1)
	idle(t, topics)
	require.Zero(t, r.Status().Awaited)
	require.NoError(t, wire.Publish(t.Context(), topics, 1, w.graph(2)))
	require.NoError(t, wire.Publish(t.Context(), topics, 1, w.manifest(2)))
	idle(t, topics)
	require.Equal(t, role.Awaited{Through: 2, Models: shards}, r.Status().Awaited)
}

// W146: a process that scores alone lost its folder after an erasure. It scored all timesteps again, with what was left
// of their graphs and models, and published that over the final predictions.
func TestFinalPredictionsStayThoughTheFolderIsLost(t *testing.T) {
	topics, w := topics(), newScenario(t, 3)
	o := optionsFor(topics)
	o.Dir = t.TempDir()
	r, stop := running(t, o)
	publish(t, topics, w, 1, 2, 3)
	idle(t, topics)
	stop()
	published, measured := predictions(t, topics), r.Status().Steps[3]
	require.Len(t, published, 2*nodes)
	require.NotNil(t, measured.Quality)

	w.erase(2, 0)
	require.NoError(t, wire.Publish(t.Context(), topics, 1, w.graph(2), w.manifest(2)))
	w.publishModels(t, topics, 2)
	w.publishModels(t, topics, 3)
	require.NoError(t, os.RemoveAll(o.Dir))
	r, stop = running(t, o)
	idle(t, topics)
	require.Equal(t, w.ensemble(3), r.Status().Ensemble.Version)
	require.Equal(t, measured, r.Status().Steps[3])
	require.Equal(t, nodes-1, r.Status().Steps[2].Predictions)
	stop()
	require.Equal(t, published, predictions(t, topics))
}

// A model of a process that had lost it counts as any other, by its lineage: it may be all that compaction has left.
func TestAModelCountsWhoeverMadeIt(t *testing.T) {
	topics, w := topics(), newScenario(t, 2)
	o := optionsFor(topics)
	o.Dir = t.TempDir()
	r, stop := running(t, o)
	defer stop()
	for at := lethe.Timestep(1); at <= 2; at++ {
		for shard := range lethe.ShardID(shards) {
			m := w.model(shard, at)
			m.Owner = wire.Owner{Generation: 3 - int64(at), Instance: "another"}
			require.NoError(t, wire.Publish(t.Context(), topics, 2, m))
		}
		require.NoError(t, wire.Publish(t.Context(), topics, 1, w.graph(at), w.manifest(at)))
	}
	idle(t, topics)
	require.Equal(t, &role.Ensemble{Version: w.ensemble(2), Through: 2}, r.Status().Ensemble)
}

// Over a broker the role does what it does over topics in memory.
func TestPredictionsOverABroker(t *testing.T) {
	_, client := testbroker.Start(t, map[bus.Topic]int{bus.Models: 2, bus.Predictions: 2})
	w := newScenario(t, 3)
	o := optionsFor(role.Kafka{Client: client})
	o.Dir = t.TempDir()
	r, stop := running(t, o)
	publish(t, client, w, 1, 2, 3)
	require.Eventually(t, func() bool {
		e := r.Status().Ensemble
		return e != nil && e.Through == 3
	}, time.Minute, 10*time.Millisecond)
	require.Equal(t, w.ensemble(3), r.Status().Ensemble.Version)
	require.Equal(t, 2*nodes, r.Status().Predictions())
	stop()
	require.Len(t, predictions(t, client), 2*nodes)
}

// What was measured stays measured, and a withdrawn prediction is not counted.
func TestQualityIsMeasuredOncePredictionsAndLabelsAreThere(t *testing.T) {
	w, store, o := newScenario(t, 2), roletest.NewStore(), optionsFor(topics())
	r := newSubject(t, o, store)
	for _, m := range []wire.Message{w.graph(1), w.graph(2), w.manifest(1), w.model(0, 1), w.model(1, 1)} {
		require.NoError(t, r.arrive(t, m))
	}
	require.Equal(t, role.Step{Predictions: nodes}, r.Status().Steps[2], "no label is in")
	require.NoError(t, r.arrive(t, w.manifest(2)))
	q := r.Status().Steps[2].Quality
	require.Equal(t, nodes*2/3, q.Labelled)
	require.NotNil(t, q.AUC)

	labelled := 0
	for w.graphs[2].Nodes[labelled].Label == lethe.Unknown {
		labelled++
	}
	w.erase(2, labelled)
	require.NoError(t, r.arrive(t, w.graph(2), w.manifest(2)))
	require.Equal(t, nodes-1, r.Status().Predictions())
	require.Equal(t, nodes*2/3-1, r.Status().Steps[2].Quality.Labelled)
	want := r.Status().Steps
	require.Equal(t, want, newSubject(t, o, store).Status().Steps, "after a restart")
}

// A message that is not what lethe writes under its key is named and passed over, and
// nothing of it is stored: a damaged one, one of another timestep or shard.
func TestJunkIsPassedOver(t *testing.T) {
	w := newScenario(t, 2)
	var junk []wire.Message
	for _, m := range []wire.Message{w.graph(1), w.manifest(1), w.model(0, 1)} {
		damaged, other := m, m
		damaged.Payload = bytes.Clone(m.Payload)
		damaged.Payload[len(m.Payload)/2] ^= 1
		other.Key.Timestep = 2
		junk = append(junk, damaged, other)
	}
	other := w.model(0, 1)
	other.Key.Shard = 1
	for _, m := range append(junk, other) {
		store, o := roletest.NewStore(), optionsFor(topics())
		var missed []events.RecordsMissed
		o.Listener = events.On(func(e events.RecordsMissed) { missed = append(missed, e) })
		require.NoError(t, newSubject(t, o, store).arrive(t, m), m.Key)
		require.Len(t, missed, 1, m.Key)
		require.Equal(t, missed[0].From+1, missed[0].To)
		require.NoError(t, store.Scan(nil, func(key, _ []byte) error {
			if string(key) == kindsKey {
				return nil
			}
			return fmt.Errorf("%q is stored", key)
		}))
	}
}

// A prediction that was not published is not noted: the role makes it again.
func TestWhatWasNotPublishedIsNotNoted(t *testing.T) {
	w, store, topics := newScenario(t, 2), roletest.NewStore(), topics()
	r := newSubject(t, optionsFor(topics), store)
	for _, m := range []wire.Message{w.graph(1), w.manifest(1), w.model(0, 1), w.model(1, 1)} {
		require.NoError(t, r.arrive(t, m))
	}
	killed := errors.New("killed")
	topics.Refuse(killed)
	require.ErrorIs(t, r.arrive(t, w.graph(2)), killed)
	require.Zero(t, r.Status().Predictions())
	topics.Refuse(nil)
	r = newSubject(t, optionsFor(topics), store)
	require.NoError(t, r.Feed(t.Context(), role.Input{}))
	require.Equal(t, nodes, r.Status().Predictions())
	require.Len(t, predictions(t, topics), nodes)
}

// Acknowledgements name the data directory: there is none to take instead.
func TestTheIdentityIsRequired(t *testing.T) {
	o := optionsFor(topics())
	require.NoError(t, o.Validate())
	o.Instance = ""
	require.ErrorContains(t, o.Validate(), `instance is ""`)
}
