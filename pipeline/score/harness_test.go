package score

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/canonical"
	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/leakcheck"
	"lethe/metrics/events"
	"lethe/partition/repair"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
	"lethe/scoring"
	"lethe/scoring/ensemble"
	"lethe/trainer"
	"lethe/trainer/kernels"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

const (
	shards   = 2
	features = 3
	nodes    = 6
)

var secret = lethe.Secret{7}

func smallModel() trainer.Config {
	c := trainer.Defaults()
	c.Hidden, c.WindowTimesteps, c.Passes, c.Seed = 4, 2, 1, 5
	return c
}

// scenario plays the roles around this one: it holds the graphs of a stream and
// gives the messages that build and train would send.
type scenario struct {
	t         testing.TB
	options   trainer.Config
	kernels   kernels.Set
	graphs    map[lethe.Timestep]*lethe.Snapshot
	shardOf   map[lethe.Pseudonym]lethe.ShardID
	revisions map[lethe.Timestep]lethe.Revision
	sliceRevs map[wire.Key]lethe.Revision
	// stale holds the graph and the manifest of before the last erasure in a
	// timestep.
	stale map[lethe.Timestep][2]wire.Message
}

// newScenario makes the timesteps 1 to n.
func newScenario(t testing.TB, n lethe.Timestep) *scenario {
	t.Helper()
	w := &scenario{
		t: t, options: smallModel(), kernels: kernels.Default(),
		graphs: make(map[lethe.Timestep]*lethe.Snapshot), shardOf: make(map[lethe.Pseudonym]lethe.ShardID),
		revisions: make(map[lethe.Timestep]lethe.Revision), sliceRevs: make(map[wire.Key]lethe.Revision),
		stale: make(map[lethe.Timestep][2]wire.Message),
	}
	for at := lethe.Timestep(1); at <= n; at++ {
		d := lethe.NewDraw(1, "test-scenario", uint64(at))
		s := &lethe.Snapshot{Timestep: at, FeatureCount: features}
		for i := range nodes {
			id := lethe.TransactionID(fmt.Sprintf("transaction-%d-%d", at, i))
			s.Nodes = append(s.Nodes, lethe.SnapshotNode{
				ID: id, Pseudonym: secret.Pseudonym(id), Label: []lethe.Label{lethe.Illicit, lethe.Licit, lethe.Unknown}[i%3],
			})
		}
		slices.SortFunc(s.Nodes, func(a, b lethe.SnapshotNode) int { return a.Pseudonym.Compare(b.Pseudonym) })
		for i, node := range s.Nodes {
			w.shardOf[node.Pseudonym] = lethe.ShardID(i % shards)
			for range features {
				s.Features = append(s.Features, float32(d.Float64()))
			}
		}
		s.Payments = []lethe.Arc{{Source: 0, Target: 1}, {Source: 0, Target: 2}, {Source: 3, Target: 2}}
		slices.SortFunc(s.Payments, lethe.Arc.Compare)
		require.NoError(t, s.Validate())
		w.graphs[at], w.revisions[at] = s, 1
	}
	return w
}

// erase takes a node out of a graph and returns its id.
func (w *scenario) erase(at lethe.Timestep, node int) lethe.TransactionID {
	gone := w.graphs[at].Nodes[node]
	before := w.slices(at)
	w.stale[at] = [2]wire.Message{w.graph(at), w.manifest(at)}
	w.graphs[at] = w.graphs[at].Without(func(p lethe.Pseudonym) bool { return p == gone.Pseudonym })
	w.revisions[at]++
	for shard, s := range w.slices(at) {
		if canonical.DigestOf(canonical.EncodeSlice(s)) != canonical.DigestOf(canonical.EncodeSlice(before[shard])) {
			w.sliceRevs[wire.Key{Shard: lethe.ShardID(shard), Timestep: at}] = w.revisions[at]
		}
	}
	return gone.ID
}

// replaced are the shards whose slice at a timestep is not the first one.
func (w *scenario) replaced(at lethe.Timestep) []lethe.ShardID {
	out := []lethe.ShardID{}
	for shard := range lethe.ShardID(shards) {
		if w.sliceRevs[wire.Key{Shard: shard, Timestep: at}] > 1 {
			out = append(out, shard)
		}
	}
	return out
}

func previous(at lethe.Timestep) lethe.Timestep {
	if at == 1 {
		return lethe.NoTimestep
	}
	return at - 1
}

func (w *scenario) slices(at lethe.Timestep) []*lethe.Slice {
	g := w.graphs[at]
	assignment := make([]lethe.ShardID, len(g.Nodes))
	for i, n := range g.Nodes {
		assignment[i] = w.shardOf[n.Pseudonym]
	}
	out, err := repair.Slices(g, previous(at), assignment, shards, repair.Config{Seed: 1, Method: "mixup", Tau: 1})
	require.NoError(w.t, err)
	return out
}

// graph is the message of a closed timestep: without labels.
func (w *scenario) graph(at lethe.Timestep) wire.Message {
	g := *w.graphs[at]
	g.Nodes = slices.Clone(g.Nodes)
	for i := range g.Nodes {
		g.Nodes[i].Label = lethe.Unknown
	}
	return wire.Message{
		Key: wire.Key{Kind: wire.KindSnapshot, Timestep: at}, Revision: w.revisions[at], Previous: previous(at),
		Payload: canonical.EncodeSnapshot(&g),
	}
}

func (w *scenario) manifest(at lethe.Timestep) wire.Message {
	m := &wire.Manifest{Timestep: at, Previous: previous(at), Labels: wire.LabelsOf(w.graphs[at])}
	for _, s := range w.slices(at) {
		m.Slices = append(m.Slices, canonical.DigestOf(canonical.EncodeSlice(s)))
	}
	key := wire.Key{Kind: wire.KindManifest, Timestep: at}
	return wire.Message{Key: key, Revision: w.revisions[at], Payload: m.Encode()}
}

// checkpoint trains a shard through a timestep.
func (w *scenario) checkpoint(shard lethe.ShardID, through lethe.Timestep) *trainer.Checkpoint {
	engine, err := trainer.NewEngine(w.options, w.kernels)
	require.NoError(w.t, err)
	var slices []*lethe.Slice
	for at := lethe.Timestep(1); at <= through; at++ {
		slices = append(slices, w.slices(at)[shard])
	}
	runner := ensemble.Runner{Engine: engine, Describe: scoring.Describe}
	out, err := runner.Column(shard).Newest(w.t.Context(), nil, slices)
	require.NoError(w.t, err)
	return out
}

func (w *scenario) model(shard lethe.ShardID, at lethe.Timestep) wire.Message {
	revision := max(1, w.sliceRevs[wire.Key{Shard: shard, Timestep: at}])
	return wire.Message{
		Key: wire.Key{Kind: wire.KindModel, Shard: shard, Timestep: at}, Revision: revision,
		Payload: trainer.EncodeCheckpoint(w.checkpoint(shard, at)),
	}
}

// ensemble is the version of the ensemble trained through a timestep.
func (w *scenario) ensemble(through lethe.Timestep) lethe.Digest {
	var digests []lethe.Digest
	for shard := range lethe.ShardID(shards) {
		digests = append(digests, canonical.DigestOf(trainer.EncodeCheckpoint(w.checkpoint(shard, through))))
	}
	return scoring.EnsembleVersion(digests)
}

// command asks for the erasure of what was taken out of the timesteps.
func (w *scenario) command(
	phase wire.Phase, gone []lethe.TransactionID, settled lethe.Timestep, steps ...lethe.Timestep,
) *wire.Command {
	c := &wire.Command{RequestID: "gdpr-1", Phase: phase}
	for _, id := range gone {
		c.Suppressed = append(c.Suppressed, secret.Suppression(id))
	}
	for _, at := range steps {
		c.Steps = append(c.Steps, wire.CommandStep{
			Timestep: at, Revision: w.revisions[at], Settled: at <= settled, Shards: w.replaced(at),
		})
	}
	return c
}

// topics are in memory.
func topics() *roletest.Bus {
	return roletest.NewBus(map[bus.Topic]int{bus.Models: 2, bus.Predictions: 2})
}

func optionsFor(topics role.Bus) Options {
	return Options{
		Shards: shards, Workers: 2, Scoring: scoring.Defaults(),
		Trainer: smallModel(), Kernels: kernels.Default(), Secret: secret,
		Surroundings: role.Around(topics, events.Listener{}, slog.New(slog.DiscardHandler)),
	}
}

// subject is a role with its logic, over a store in memory.
type subject struct {
	*role.Follower
	logic *logic
}

// newSubject opens the role on a store, as after a kill if it was used before. A
// search of its files finds nothing.
func newSubject(t testing.TB, o Options, store role.Store) subject {
	t.Helper()
	l, err := newLogic(o, store, func(context.Context, *wire.Command) (scan.Summary, error) {
		return scan.Summary{}, nil
	})
	require.NoError(t, err)
	return subject{role.Follow(roleName, l, o.Surroundings), l}
}

// arrive hands messages over, as one batch.
func (s subject) arrive(t testing.TB, messages ...wire.Message) error {
	t.Helper()
	in := role.Input{Batch: bus.Batch{Source: bus.TopicPartition{Topic: wire.TopicOf(messages[0].Key.Kind)}}}
	for _, m := range messages {
		in.Messages = append(in.Messages, wire.Received{Message: m})
	}
	return s.Feed(t.Context(), in)
}

// reader is a bus whose topics can be read: in memory or a broker's.
type reader interface {
	ReadAll(ctx context.Context, t bus.Topic, fn func(ingest.Record) error) error
}

// predictions reads what was published, record by record in partition order.
func predictions(t testing.TB, topics reader) []*scoring.Prediction {
	t.Helper()
	var out []*scoring.Prediction
	require.NoError(t, topics.ReadAll(t.Context(), bus.Predictions, func(rec ingest.Record) error {
		p, err := scoring.DecodePrediction(rec.Value)
		out = append(out, p)
		return err
	}))
	return out
}

// acks counts the acknowledgements by step.
func acks(t testing.TB, topics reader) map[string]int {
	t.Helper()
	out := make(map[string]int)
	require.NoError(t, topics.ReadAll(t.Context(), bus.ErasureStatus, func(rec ingest.Record) error {
		n, err := wire.ParseNotice(rec)
		if n.Ack != nil {
			out[string(n.Ack.Step)]++
		}
		return err
	}))
	return out
}

func sorted[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
