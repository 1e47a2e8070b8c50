package train

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/canonical"
	"lethe/ingest/bus"
	"lethe/internal/leakcheck"
	"lethe/metrics/events"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
	"lethe/scoring/ensemble"
	"lethe/trainer"
	"lethe/trainer/kernels"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

const features = 3

// smallModel trains in a moment.
func smallModel() trainer.Config {
	c := trainer.Defaults()
	c.Hidden, c.WindowTimesteps, c.Passes, c.Seed = 4, 2, 1, 5
	return c
}

// sliceOf makes a slice whose content depends on its place and the salt.
func sliceOf(shard lethe.ShardID, t, previous lethe.Timestep, salt uint64) *lethe.Slice {
	d := lethe.NewDraw(salt, "test-slice", uint64(shard), uint64(t))
	s := &lethe.Slice{Timestep: t, Previous: previous, Shard: shard, FeatureCount: features}
	for i := range 6 {
		s.Nodes = append(s.Nodes, lethe.Pseudonym{byte(i), byte(t), byte(shard), byte(salt)})
		s.Labels = append(s.Labels, []lethe.Label{lethe.Illicit, lethe.Licit, lethe.Unknown}[i%3])
		for range features {
			s.Features = append(s.Features, float32(d.Float64()))
		}
	}
	s.Edges = []lethe.Edge{{A: 0, B: 1}, {A: 1, B: 4}}
	return s
}

// plan is what a shard's column should hold.
type plan struct {
	shard  lethe.ShardID
	slices []*lethe.Slice
}

// planOf is a shard's column of the timesteps 1 to n.
func planOf(shard lethe.ShardID, n lethe.Timestep) plan {
	p := plan{shard: shard}
	previous := lethe.NoTimestep
	for t := lethe.Timestep(1); t <= n; t++ {
		p.slices = append(p.slices, sliceOf(shard, t, previous, 0))
		previous = t
	}
	return p
}

// plansOf are those of three shards.
func plansOf(n lethe.Timestep) []plan { return []plan{planOf(0, n), planOf(1, n), planOf(2, n)} }

// gone is the deletion of a slice.
func gone(shard lethe.ShardID, at lethe.Timestep) wire.Message {
	return wire.Message{Key: wire.Key{Kind: wire.KindSlice, Shard: shard, Timestep: at}, Deleted: true}
}

// messages are the slices as they travel.
func (p plan) messages(revision lethe.Revision) []wire.Message {
	var out []wire.Message
	for _, s := range p.slices {
		out = append(out, wire.Message{
			Key:      wire.Key{Kind: wire.KindSlice, Shard: s.Shard, Timestep: s.Timestep},
			Revision: revision, Payload: canonical.EncodeSlice(s),
		})
	}
	return out
}

// checkpoints trains the column in one go, without stores and topics.
func (p plan) checkpoints(t testing.TB, o trainer.Config, k kernels.Set) map[lethe.Timestep][]byte {
	t.Helper()
	engine, err := trainer.NewEngine(o, k)
	require.NoError(t, err)
	out := make(map[lethe.Timestep][]byte)
	runner := ensemble.Runner{Engines: []*trainer.Engine{engine}}
	for step, err := range runner.Column(p.shard).Replay(t.Context(), nil, p.slices) {
		require.NoError(t, err)
		out[step.Checkpoint.Timestep] = trainer.EncodeCheckpoint(step.Checkpoint)
	}
	return out
}

// topics are in memory, two partitions of slices and of models.
func topics() *roletest.Bus {
	return roletest.NewBus(map[bus.Topic]int{bus.Slices: 2, bus.Models: 2})
}

// heard collects what the role tells its listener.
type heard struct {
	mu      sync.Mutex
	trained []events.ShardTrained
	lag     []events.LagMeasured
}

func (h *heard) listener() events.Listener {
	return events.Tee(
		events.On(func(e events.ShardTrained) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.trained = append(h.trained, e)
		}),
		events.On(func(e events.LagMeasured) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.lag = append(h.lag, e)
		}),
	)
}

func optionsFor(dir string, topics role.Bus) Options {
	return Options{
		Dir: dir, Layout: ensemble.PerShard(smallModel(), 3), Workers: 2, Kernels: kernels.Default(), Secret: lethe.Secret{1},
		Instance: "1", Surroundings: role.Around(topics, nil, slog.New(slog.DiscardHandler)),
	}
}

// ofOneShard are options of a single shard.
func ofOneShard(dir string, topics role.Bus) Options {
	o := optionsFor(dir, topics)
	o.Layout = ensemble.PerShard(smallModel(), 1)
	return o
}

// running is a role that runs until stop, which returns what Run returned.
func running(t testing.TB, o Options) (stop func() error) {
	t.Helper()
	r, err := New(o)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	var once sync.Once
	stop = func() (err error) {
		once.Do(func() {
			cancel()
			err = <-ended
			require.NoError(t, r.Close())
		})
		return err
	}
	t.Cleanup(func() { require.NoError(t, stop()) })
	return stop
}

// models reads the newest model of every key and how often each was published.
func models(t testing.TB, topics roletest.Reader) (newest map[wire.Key]wire.Message, times map[wire.Key]int) {
	t.Helper()
	newest, times = make(map[wire.Key]wire.Message), make(map[wire.Key]int)
	for _, m := range roletest.Messages(t, topics, bus.Models) {
		if m.Deleted {
			delete(newest, m.Key)
			continue
		}
		newest[m.Key] = m.Message
		times[m.Key]++
	}
	return newest, times
}

// await waits until the role has nothing more to do and the newest models are those that
// the plans give: after a slice was replaced it waits for others.
func await(t testing.TB, topics *roletest.Bus, o Options, plans ...plan) {
	t.Helper()
	require.Eventually(t, func() bool { return topics.Idle(1) }, time.Minute, time.Millisecond)
	awaitModels(t, topics, wanted(t, o, plans...))
}

// wanted are the models that the plans give, by their digests.
func wanted(t testing.TB, o Options, plans ...plan) map[wire.Key]lethe.Digest {
	t.Helper()
	want := make(map[wire.Key]lethe.Digest)
	for _, p := range plans {
		for at, data := range p.checkpoints(t, o.Layout.Components[0].Config, o.Kernels) {
			want[wire.Key{Kind: wire.KindModel, Shard: p.shard, Timestep: at}] = canonical.DigestOf(data)
		}
	}
	return want
}

// payloads are the digests of the newest models.
func payloads(t testing.TB, topics roletest.Reader) map[wire.Key]lethe.Digest {
	t.Helper()
	got := make(map[wire.Key]lethe.Digest)
	newest, _ := models(t, topics)
	for key, m := range newest {
		got[key] = canonical.DigestOf(m.Payload)
	}
	return got
}

// publishAll sends the slices of plans as they were at first.
func publishAll(t testing.TB, topics wire.Publisher, plans []plan) {
	t.Helper()
	for _, p := range plans {
		publish(t, topics, p.messages(1)...)
	}
}

// publish sends messages as the role that builds graphs does.
func publish(t testing.TB, topics wire.Publisher, messages ...wire.Message) {
	t.Helper()
	require.NoError(t, wire.Publish(t.Context(), topics, 2, messages...))
}
