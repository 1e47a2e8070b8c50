package trainer_test

import (
	"flag"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"lethe/internal/realdata"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/dataset"
	"lethe/partition"
	"lethe/partition/graph"
	"lethe/partition/onehop"
	"lethe/partition/repair"
	"lethe/scoring/quality"
	"lethe/trainer"
	"lethe/trainer/kernels"
)

// otcShards is the number of shards of every figure in docs/model-results.md.
const otcShards = 20

// setIf sets a value if the flag for it is given.
func setIf[T comparable](value *T, flag T) {
	var zero T
	if flag != zero {
		*value = flag
	}
}

// otcStep is one timestep of the Bitcoin-OTC stream, cut into shards.
type otcStep struct {
	graph  *lethe.Snapshot
	slices []*lethe.Slice
}

// readOTC partitions the stream of Bitcoin-OTC as the service does. It skips
// the test where the data is absent.
func readOTC(t testing.TB) []otcStep {
	t.Helper()
	folder := realdata.Path(t, "bitcoin-otc", "elliptic-format")
	stream, err := dataset.LoadElliptic(t.Context(), folder)
	require.NoError(t, err)
	out := make([]otcStep, len(stream.Steps))
	for i := range stream.Steps {
		s := snapshotOf(&stream.Steps[i], stream.FeatureCount)
		g, err := graph.FromSnapshot(s)
		require.NoError(t, err)
		config := partition.Defaults()
		config.Shards, config.Seed = otcShards, 1
		a, _, err := partition.Run(t.Context(), g, config)
		require.NoError(t, err)
		switch *otcHops {
		case "none":
		case "undirected":
			s = onehop.Undirected.Join(s)
		default:
			s = onehop.Directed.Join(s)
		}
		cut, err := repair.Slices(s, lethe.NoTimestep, a, otcShards, repair.Config{Seed: 1, Method: repair.MixUp, Tau: 1})
		require.NoError(t, err)
		out[i] = otcStep{graph: s, slices: cut}
	}
	return out
}

func snapshotOf(step *dataset.Step, features int) *lethe.Snapshot {
	var secret lethe.Secret
	s := &lethe.Snapshot{Timestep: step.Timestep, FeatureCount: features}
	labels, rows := map[lethe.TransactionID]lethe.Label{}, map[lethe.TransactionID][]float32{}
	for _, l := range step.Labels {
		labels[l.ID] = l.Label
	}
	for _, tx := range step.Transactions {
		rows[tx.ID] = tx.Features
		s.Nodes = append(s.Nodes, lethe.SnapshotNode{Pseudonym: secret.Pseudonym(tx.ID), ID: tx.ID, Label: labels[tx.ID]})
	}
	slices.SortFunc(s.Nodes, func(a, b lethe.SnapshotNode) int { return a.Pseudonym.Compare(b.Pseudonym) })
	at := map[lethe.TransactionID]uint32{}
	for i, n := range s.Nodes {
		at[n.ID] = uint32(i)
		s.Features = append(s.Features, rows[n.ID]...)
	}
	for _, p := range step.Payments {
		s.Payments = append(s.Payments, lethe.Arc{Source: at[p.Source], Target: at[p.Target]})
	}
	slices.SortFunc(s.Payments, lethe.Arc.Compare)
	s.Payments = slices.Compact(s.Payments)
	return s
}

// TestOTCStream scores timesteps of Bitcoin-OTC with models trained on the
// timesteps before them, sharded, with one-hop features: test-then-train. The
// normal run takes one late timestep.
func TestOTCStream(t *testing.T) {
	if testing.Short() {
		t.Skip("trains on real data")
	}
	steps := readOTC(t)
	c := trainer.DefaultsOf(*otcModel)
	c.Seed = 1
	setIf(&c.ClassWeights, *otcWeights)
	setIf(&c.Schedule, *otcSchedule)
	setIf(&c.WindowTimesteps, *otcWindow)
	setIf(&c.Logistic.L2, *otcL2)
	setIf(&c.Trees.Rounds, *otcRounds)
	setIf(&c.Trees.UpdateRounds, *otcUpdate)
	setIf(&c.Trees.RowShare, *otcRows)
	setIf(&c.Trees.MaxLeaves, *otcLeaves)
	setIf(&c.Trees.FeatureShare, *otcShare)
	setIf(&c.Trees.MaxBins, *otcBins)
	setIf(&c.Trees.L2, *otcTreesL2)
	setIf(&c.Trees.LearningRate, *otcRate)
	setIf(&c.Trees.MinChildRows, *otcChildRows)
	setIf(&c.Blend.Rate, *otcBlendRate)
	if *otcComponents != "" {
		c.Components = strings.Split(*otcComponents, ",")
	}
	engine, err := trainer.NewEngine(c, kernels.Default())
	require.NoError(t, err)
	started := time.Now()
	r := &otcRun{engine: engine, steps: steps, checkpoints: make([]*trainer.Checkpoint, otcShards)}
	first := *otcFirst - 1
	if engine.Config().Schedule == trainer.Continual {
		first = 1
	}
	for at := first; at < *otcLast; at += *otcStride {
		r.train(t, at)
		if at >= *otcFirst-1 {
			r.score(t, at)
		}
	}
	report := func(name string, scores []float64) {
		s := quality.Summarise(scores, r.labels, 0.5)
		require.NotNil(t, s.AUC)
		t.Logf("%s, mean of %s: AUC %.4f, average precision %.4f, F1 %.3f, %.0f s",
			*otcModel, name, *s.AUC, *s.AveragePrecision, s.IllicitF1, time.Since(started).Seconds())
		require.GreaterOrEqual(t, *s.AUC, *otcLeast)
	}
	report("probabilities", r.means)
	report("logits", r.logits)
}

// otcRun is a walk through the stream.
type otcRun struct {
	engine      *trainer.Engine
	steps       []otcStep
	checkpoints []*trainer.Checkpoint
	// means and logits are the ensemble's two answers, labels the truth.
	means, logits []float64
	labels        []lethe.Label
}

// train brings every shard to the timestep before at.
func (r *otcRun) train(t *testing.T, at int) {
	for shard := range lethe.ShardID(otcShards) {
		var window []*lethe.Slice
		for _, s := range r.steps[max(0, at-r.engine.Config().WindowTimesteps):at] {
			window = append(window, s.slices[shard])
		}
		c, _, err := r.engine.Train(t.Context(), shard, r.checkpoints[shard], window)
		require.NoError(t, err)
		r.checkpoints[shard] = c
	}
}

// score asks all shards about the labelled transactions of a timestep.
func (r *otcRun) score(t *testing.T, at int) {
	graph := r.steps[at].graph
	mean, logit := make([]float64, len(graph.Nodes)), make([]float64, len(graph.Nodes))
	for _, c := range r.checkpoints {
		p, err := r.engine.Probabilities(t.Context(), c, trainer.InputOf(graph))
		require.NoError(t, err)
		for i := range graph.Nodes {
			v := float64(p[2*i+1])
			mean[i] += v / otcShards
			bounded := min(max(v, 1e-7), 1-1e-7)
			logit[i] += math.Log(bounded/(1-bounded)) / otcShards
		}
	}
	for i, n := range graph.Nodes {
		if n.Label != lethe.Unknown {
			r.means, r.logits = append(r.means, min(1, mean[i])), append(r.logits, 1/(1+math.Exp(-logit[i])))
			r.labels = append(r.labels, n.Label)
		}
	}
}

// What TestOTCStream is to measure; what is left at 0 is the engine's default.
var (
	otcModel      = flag.String("otc.model", trainer.Logistic, "model")
	otcComponents = flag.String("otc.components", "", "models of a blend, with commas")
	otcBlendRate  = flag.Float64("otc.blendrate", 0, "rate of a blend")
	otcSchedule   = flag.String("otc.schedule", "", "schedule")
	otcFirst      = flag.Int("otc.first", 40, "first timestep that is scored")
	otcLast       = flag.Int("otc.last", 40, "last timestep that is scored")
	otcStride     = flag.Int("otc.stride", 1, "take every so manieth timestep only")
	otcWindow     = flag.Int("otc.window", 0, "how many timesteps are trained on")
	otcHops       = flag.String("otc.onehop", "directed", "one-hop features: none, undirected or directed")
	otcWeights    = flag.String("otc.weights", "", "class weights")
	otcL2         = flag.Float64("otc.l2", 0, "L2 of logistic regression")
	otcRounds     = flag.Int("otc.rounds", 0, "rounds of trees")
	otcUpdate     = flag.Int("otc.update", 0, "rounds of trees added at every timestep of a continual schedule")
	otcRows       = flag.Float64("otc.rows", 0, "share of rows of a tree")
	otcLeaves     = flag.Int("otc.leaves", 0, "leaves of a tree")
	otcChildRows  = flag.Int("otc.childrows", 0, "least rows of a leaf of a tree")
	otcShare      = flag.Float64("otc.share", 0, "share of features of a tree")
	otcBins       = flag.Int("otc.bins", 0, "bins of a feature for trees")
	otcTreesL2    = flag.Float64("otc.treesl2", 0, "L2 of trees")
	otcRate       = flag.Float64("otc.rate", 0, "learning rate of trees")
	otcLeast      = flag.Float64("otc.least", 0.95, "AUC below which the test fails")
)
