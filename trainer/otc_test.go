package trainer_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/dataset"
	"lethe/partition"
	"lethe/scoring"
	"lethe/trainer"
	"lethe/trainer/kernels"
)

// otcShards is the number of shards of every figure in docs/models.md.
const otcShards = 20

// otcStep is one timestep of the Bitcoin-OTC stream, cut into shards.
type otcStep struct {
	graph  *lethe.Snapshot
	slices []*lethe.Slice
}

// readOTC partitions the stream of Bitcoin-OTC as the service does. It skips
// the test where the data is absent.
func readOTC(t testing.TB) []otcStep {
	t.Helper()
	folder := os.Getenv("LETHE_DATA")
	if folder == "" {
		folder = filepath.Join("..", "..", "shared", "data")
	}
	folder = filepath.Join(folder, "bitcoin-otc", "elliptic-format")
	if _, err := os.Stat(folder); errors.Is(err, os.ErrNotExist) {
		t.Skipf("no folder %s: set LETHE_DATA to run this test", folder)
	}
	stream, err := dataset.LoadElliptic(t.Context(), folder)
	require.NoError(t, err)
	out := make([]otcStep, len(stream.Steps))
	for i := range stream.Steps {
		s := snapshotOf(&stream.Steps[i], stream.FeatureCount)
		g, err := partition.FromSnapshot(s)
		require.NoError(t, err)
		a, _, err := partition.Run(t.Context(), g, partition.Options{Shards: otcShards, Seed: 1})
		require.NoError(t, err)
		switch *otcHops {
		case "none":
		case "undirected":
			s = lethe.OneHop(s)
		default:
			s = lethe.DirectedOneHop(s)
		}
		cut, err := partition.Slices(s, lethe.NoTimestep, a, otcShards, partition.RepairOptions{Seed: 1})
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
		s.Payments = append(s.Payments, lethe.Edge{A: at[p.Source], B: at[p.Target]})
	}
	slices.SortFunc(s.Payments, lethe.Edge.Compare)
	s.Payments = slices.Compact(s.Payments)
	return s
}

// TestOTCStream scores timesteps of Bitcoin-OTC with models trained on all
// timesteps before them, sharded, with one-hop features: test-then-train. The
// normal run takes one late timestep; docs/models.md has the figures of
// -otc.first=35, and how to repeat them.
func TestOTCStream(t *testing.T) {
	if testing.Short() {
		t.Skip("trains on real data")
	}
	steps := readOTC(t)
	opts := trainer.Options{Model: *otcModel, Seed: 1, ClassWeights: *otcWeights}
	opts.Logistic.L2 = *otcL2
	opts.Trees.Rounds = *otcRounds
	engine, err := trainer.NewEngine(opts, kernels.Default())
	require.NoError(t, err)
	var scores []float64
	var labels []lethe.Label
	started := time.Now()
	for at := *otcFirst - 1; at < *otcLast; at++ {
		graph := steps[at].graph
		mean := make([]float64, len(graph.Nodes))
		for shard := range lethe.ShardID(otcShards) {
			var window []*lethe.Slice
			for _, s := range steps[max(0, at-*otcWindow):at] {
				window = append(window, s.slices[shard])
			}
			c, _, err := engine.Train(t.Context(), shard, nil, window)
			require.NoError(t, err)
			p, err := engine.Predict(t.Context(), c, trainer.InputOf(graph))
			require.NoError(t, err)
			for i := range mean {
				mean[i] += float64(p[i]) / otcShards
			}
		}
		for i, n := range graph.Nodes {
			if n.Label != lethe.Unknown {
				scores, labels = append(scores, min(1, mean[i])), append(labels, n.Label)
			}
		}
	}
	s := scoring.Summarise(scores, labels, 0.5)
	require.NotNil(t, s.AUC)
	t.Logf("%s: AUC %.4f, average precision %.4f, F1 %.3f, %.0f s",
		*otcModel, *s.AUC, *s.AveragePrecision, s.IllicitF1, time.Since(started).Seconds())
	require.GreaterOrEqual(t, *s.AUC, *otcLeast)
}

// What TestOTCStream is to measure.
var (
	otcModel   = flag.String("otc.model", trainer.Logistic, "model")
	otcFirst   = flag.Int("otc.first", 40, "first timestep that is scored")
	otcLast    = flag.Int("otc.last", 40, "last timestep that is scored")
	otcWindow  = flag.Int("otc.window", 1000, "how many timesteps are trained on")
	otcHops    = flag.String("otc.onehop", "directed", "one-hop features: none, undirected or directed")
	otcWeights = flag.String("otc.weights", "", "class weights")
	otcL2      = flag.Float64("otc.l2", 0, "L2 of logistic regression")
	otcRounds  = flag.Int("otc.rounds", 0, "rounds of trees")
	otcLeast   = flag.Float64("otc.least", 0.95, "AUC below which the test fails")
)
