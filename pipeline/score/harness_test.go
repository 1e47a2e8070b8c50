package score

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/canonical"
	"lethe/internal/leakcheck"
	"lethe/partition/onehop"
	"lethe/partition/repair"
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
	oneHop    onehop.Mode
	kernels   kernels.Set
	graphs    map[lethe.Timestep]*lethe.Snapshot
	shardOf   map[lethe.Pseudonym]lethe.ShardID
	revisions map[lethe.Timestep]lethe.Revision
	sliceRevs map[wire.Key]lethe.Revision
	// stale holds the graph and the manifest of before the last erasure in a
	// timestep.
	stale map[lethe.Timestep][2]wire.Message
	// hidden is the graph of the timestep that was removed last.
	hidden *lethe.Snapshot
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

// previous is the timestep before one of those that are there.
func (w *scenario) previous(at lethe.Timestep) lethe.Timestep {
	before := lethe.NoTimestep
	for t := range w.graphs {
		if t < at {
			before = max(before, t)
		}
	}
	return before
}

// next is the timestep after one, or NoTimestep.
func (w *scenario) next(at lethe.Timestep) lethe.Timestep {
	for _, t := range sorted(w.graphs) {
		if t > at {
			return t
		}
	}
	return lethe.NoTimestep
}

// remove takes a timestep away: that after it has another one before it then.
func (w *scenario) remove(at lethe.Timestep) (gone []lethe.TransactionID) {
	for _, n := range w.graphs[at].Nodes {
		gone = append(gone, n.ID)
	}
	w.hidden = w.graphs[at]
	delete(w.graphs, at)
	w.relink(at)
	return gone
}

// insert puts back what was removed.
func (w *scenario) insert() {
	w.graphs[w.hidden.Timestep] = w.hidden
	w.relink(w.hidden.Timestep)
}

func (w *scenario) relink(at lethe.Timestep) {
	next := w.next(at)
	if next == lethe.NoTimestep {
		return
	}
	w.revisions[next]++
	for shard := range lethe.ShardID(shards) {
		w.sliceRevs[wire.Key{Shard: shard, Timestep: next}] = w.revisions[next]
	}
}

// join puts a transaction into a graph.
func (w *scenario) join(at lethe.Timestep) {
	s, id := w.graphs[at], lethe.TransactionID(fmt.Sprintf("late-%d", at))
	p := secret.Pseudonym(id)
	grown := &lethe.Snapshot{Timestep: at, FeatureCount: features}
	for i, n := range append(slices.Clone(s.Nodes), lethe.SnapshotNode{ID: id, Pseudonym: p, Label: lethe.Illicit}) {
		grown.Nodes = append(grown.Nodes, n)
		if i < len(s.Nodes) {
			grown.Features = append(grown.Features, s.Row(i)...)
		}
	}
	slices.SortFunc(grown.Nodes, func(a, b lethe.SnapshotNode) int { return a.Pseudonym.Compare(b.Pseudonym) })
	place, _ := grown.Find(p)
	grown.Features = slices.Insert(grown.Features, place*features, make([]float32, features)...)
	for _, arc := range s.Payments {
		source, _ := grown.Find(s.Nodes[arc.Source].Pseudonym)
		target, _ := grown.Find(s.Nodes[arc.Target].Pseudonym)
		grown.Payments = append(grown.Payments, lethe.Arc{Source: uint32(source), Target: uint32(target)})
	}
	slices.SortFunc(grown.Payments, lethe.Arc.Compare)
	require.NoError(w.t, grown.Validate())
	w.graphs[at] = grown
	w.revisions[at]++
	for shard := range lethe.ShardID(shards) {
		w.sliceRevs[wire.Key{Shard: shard, Timestep: at}] = w.revisions[at]
	}
}

func (w *scenario) slices(at lethe.Timestep) []*lethe.Slice {
	g := w.graphs[at]
	assignment := make([]lethe.ShardID, len(g.Nodes))
	for i, n := range g.Nodes {
		assignment[i] = w.shardOf[n.Pseudonym]
	}
	out, err := repair.Slices(g, w.previous(at), assignment, shards, repair.Config{
		Seed: 1, Method: "mixup", Tau: 1, OneHop: w.oneHop,
	})
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
		Key: wire.Key{Kind: wire.KindSnapshot, Timestep: at}, Revision: w.revisions[at], Previous: w.previous(at),
		Payload: canonical.EncodeSnapshot(&g),
	}
}

func (w *scenario) manifest(at lethe.Timestep) wire.Message {
	m := &wire.Manifest{Timestep: at, Previous: w.previous(at), Labels: wire.LabelsOf(w.graphs[at])}
	for _, s := range w.slices(at) {
		m.Slices = append(m.Slices, canonical.DigestOf(canonical.EncodeSlice(s)))
	}
	key := wire.Key{Kind: wire.KindManifest, Timestep: at}
	return wire.Message{Key: key, Revision: w.revisions[at], Payload: m.Encode()}
}

// layout is one model per shard.
func (w *scenario) layout() ensemble.Layout { return ensemble.PerShard(w.options, shards) }

// checkpoint trains a shard through a timestep.
func (w *scenario) checkpoint(shard lethe.ShardID, through lethe.Timestep) *trainer.Checkpoint {
	engine, err := trainer.NewEngine(w.options, w.kernels)
	require.NoError(w.t, err)
	var slices []*lethe.Slice
	for _, at := range sorted(w.graphs) {
		if at <= through {
			slices = append(slices, w.slices(at)[shard])
		}
	}
	runner := ensemble.Runner{Engines: []*trainer.Engine{engine}}
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
	if len(w.graphs) == 0 {
		return lethe.Digest{}
	}
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
			Gone: w.graphs[at] == nil,
		})
	}
	return c
}
