package protocol_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/lab/baselines"
	"lethe/lab/protocol"
	"lethe/partition"
	"lethe/partition/repair"
	"lethe/trainer/kernels"
)

// planted returns a graph of three classes whose nodes mostly cite their own
// class and mostly use their own class's words.
func planted(nodes int, seed uint64) *protocol.Graph {
	const classes, words = 3, 12
	g := &protocol.Graph{Name: "planted", Columns: words, Classes: classes}
	draw := lethe.NewDraw(seed, "planted")
	for i := range nodes {
		g.Labels = append(g.Labels, i%classes)
		for w := range words {
			v := float32(0)
			if own := w%classes == i%classes; own && draw.Float64() < .6 || !own && draw.Float64() < .15 {
				v = 1
			}
			g.Features = append(g.Features, v)
		}
	}
	for a := range nodes {
		for b := a + 1; b < nodes; b++ {
			p := .01
			if a%classes == b%classes {
				p = .08
			}
			if draw.Float64() < p {
				g.Edges = append(g.Edges, lethe.Edge{A: uint32(a), B: uint32(b)})
			}
		}
	}
	return g
}

func settings() protocol.Settings {
	s := protocol.Defaults("sage")
	s.Hidden, s.Epochs, s.Shards, s.Seed = 16, 40, 4, 3
	s.Partition.Refine, s.Propagate = true, true
	s.Aggregate = []string{protocol.AggregateMean, protocol.AggregateSimilarity, protocol.AggregateLearned}
	return s
}

// brief are settings for tests that compare bytes and need no good model.
func brief() protocol.Settings {
	s := settings()
	s.Epochs, s.Hidden, s.Propagate = 3, 8, false
	return s
}

// BEKM clusters what a GraphSAGE learnt, the same whatever the workers, and what
// is no graph's business is refused.
func TestEmbeddingOfBEKM(t *testing.T) {
	g := planted(90, 2)
	s := brief()
	s.Repair, s.Partition = repair.None, protocol.Partition{Method: baselines.MethodBEKM}
	structure := run(t, g, s, 1)
	s.Partition.Embedding = protocol.EmbeddingSAGE
	learnt := run(t, g, s, 1)
	require.NotEqual(t, structure.EnsembleHash, learnt.EnsembleHash)
	require.Equal(t, learnt.EnsembleHash, run(t, g, s, 3).EnsembleHash)
	s.Partition.Embedding, s.Model, s.OneHop = "nonsense", "logistic", true
	_, err := protocol.RunGraph(t.Context(), g, s, runtimeOf(1))
	require.EqualError(t, err, `settings: partition.embedding is "nonsense", want sage or nothing`)
	s.Partition.Embedding = ""
	_, err = protocol.RunGraph(t.Context(), g, s, runtimeOf(1))
	require.ErrorContains(t, err, "are for streams")
}

func run(t *testing.T, g *protocol.Graph, s protocol.Settings, workers int) *protocol.Outcome {
	t.Helper()
	out, err := protocol.RunGraph(t.Context(), g, s, runtimeOf(workers))
	require.NoError(t, err)
	out.PartitionSeconds, out.TrainSeconds = 0, 0
	return out
}

// Partitions that are kept change no figure, whatever differs between the calls.
func TestKeptPartitionsAreThoseOfTheirSettings(t *testing.T) {
	graphs := []*protocol.Graph{planted(90, 1), planted(90, 2)}
	r := protocol.Runtime{Kernels: kernels.Default(), Workers: 1, Partitions: new(protocol.Partitions), Now: time.Now}
	for _, change := range []func(*protocol.Settings){
		func(*protocol.Settings) {},
		func(s *protocol.Settings) { s.Repair = repair.Zero },
		func(s *protocol.Settings) { s.Seed++ },
		func(s *protocol.Settings) { s.Shards++ },
		func(s *protocol.Settings) { s.Transductive = true },
		func(s *protocol.Settings) { s.TrainFraction = .5 },
		func(s *protocol.Settings) { s.Partition.Method = partition.MethodRandom },
		func(s *protocol.Settings) {
			s.Partition = protocol.Partition{Method: baselines.MethodBEKM, Embedding: protocol.EmbeddingSAGE}
		},
		func(s *protocol.Settings) {
			s.Partition = protocol.Partition{Method: baselines.MethodBEKM, Embedding: protocol.EmbeddingSAGE}
			s.Epochs++
		},
	} {
		for _, g := range graphs {
			s := brief()
			change(&s)
			want := run(t, g, s, 1)
			for range 2 {
				got, err := protocol.RunGraph(t.Context(), g, s, r)
				require.NoError(t, err)
				require.Positive(t, got.PartitionSeconds)
				got.PartitionSeconds, got.TrainSeconds = 0, 0
				require.Equal(t, want, got)
			}
		}
	}
}

func TestWorkersDoNotReachAFigure(t *testing.T) {
	g := planted(120, 1)
	one := run(t, g, settings(), 1)
	require.Equal(t, one, run(t, g, settings(), 4))
	require.Equal(t, 4*40, one.Steps)
	require.Len(t, one.Readings, 7)
	for _, r := range one.Readings {
		require.Greater(t, r.Test.Accuracy, .6, "%s, propagated %t", r.Aggregate, r.Propagated)
		require.Equal(t, 24, r.Test.Labelled)
	}
	other := settings()
	other.Seed++
	require.NotEqual(t, one.EnsembleHash, run(t, g, other, 1).EnsembleHash)
}

// whoSees are the settings of what training sees of the test nodes.
func whoSees() []protocol.Settings {
	inductive, dealt, shared := brief(), brief(), brief()
	dealt.Transductive, shared.Transductive, shared.SharedTest = true, true, true
	return []protocol.Settings{inductive, dealt, shared}
}

func TestTestLabelsDoNotReachTraining(t *testing.T) {
	for _, s := range whoSees() {
		g := planted(120, 1)
		before := run(t, g, s, 2)
		shuffled := *g
		shuffled.Labels = append([]int(nil), g.Labels...)
		split := protocol.NewSplit(g.NumNodes(), .8, s.Seed)
		for _, node := range split.Test {
			shuffled.Labels[node] = (shuffled.Labels[node] + 1) % g.Classes
		}
		after := run(t, &shuffled, s, 2)
		require.Equal(t, before.EnsembleHash, after.EnsembleHash)
		require.NotEqual(t, before.Readings[0].Test.Accuracy, after.Readings[0].Test.Accuracy,
			"it is measured against the shuffled labels")

		// The other way round: a training label does reach it.
		shuffled.Labels[split.Train[0]] = (shuffled.Labels[split.Train[0]] + 1) % g.Classes
		require.NotEqual(t, before.EnsembleHash, run(t, &shuffled, s, 2).EnsembleHash)
	}
}

// The labels of the test nodes in every rotation of the classes: an answer that does not
// depend on them is right in exactly one. Propagation that met them would be right in
// nearly all.
func TestTestLabelsDoNotReachPropagation(t *testing.T) {
	for _, s := range whoSees() {
		s.Propagate = true
		g := planted(120, 1)
		split := protocol.NewSplit(g.NumNodes(), .8, s.Seed)
		right := make(map[string]float64)
		for rotation := range g.Classes {
			rotated := *g
			rotated.Labels = slices.Clone(g.Labels)
			for _, node := range split.Test {
				rotated.Labels[node] = (rotated.Labels[node] + rotation) % g.Classes
			}
			for _, r := range run(t, &rotated, s, 2).Readings {
				right[fmt.Sprintf("%s, propagated: %t", r.Aggregate, r.Propagated)] += r.Test.Accuracy
			}
		}
		require.Len(t, right, 7)
		for reading, sum := range right {
			require.InDelta(t, 1, sum, 1e-9, reading)
		}
	}
}

func TestInductiveTrainingSeesNoTestNode(t *testing.T) {
	s := brief()
	g := planted(120, 1)
	before := run(t, g, s, 2)
	split := protocol.NewSplit(g.NumNodes(), .8, s.Seed)
	changed := *g
	changed.Features = append([]float32(nil), g.Features...)
	for _, node := range split.Test {
		changed.Features[node*g.Columns] += 2
	}
	require.Equal(t, before.EnsembleHash, run(t, &changed, s, 2).EnsembleHash)
	s.Transductive = true
	require.NotEqual(t, run(t, g, s, 2).EnsembleHash, run(t, &changed, s, 2).EnsembleHash,
		"transductive training sees the features of test nodes")
}

func TestRepairTruthCarriesTheNeighbour(t *testing.T) {
	s := brief()
	s.Partition.Refine = false
	s.Partition.Method = "random"
	hashes := map[lethe.Digest]string{}
	for _, repair := range []string{"none", "zero", "mirror", "mixup", protocol.RepairTruth} {
		s.Repair = repair
		hash := run(t, planted(120, 1), s, 2).EnsembleHash
		require.Empty(t, hashes[hash], "%s trains on the same slices as %s", repair, hashes[hash])
		hashes[hash] = repair
	}
}

func TestSettingsAreCheckedAllAtOnce(t *testing.T) {
	_, err := protocol.RunGraph(t.Context(), planted(30, 1),
		protocol.Settings{Epochs: -1, TrainFraction: 2, Aggregate: []string{"best"}},
		runtimeOf(1))
	require.ErrorContains(t, err, `model is ""`)
	require.ErrorContains(t, err, "epochs is -1")
	require.ErrorContains(t, err, "train_fraction is 2")
	require.ErrorContains(t, err, `"best"`)
}

func TestForgetTouchesWhatItMust(t *testing.T) {
	g := planted(120, 1)
	s := brief()
	s.Aggregate = s.Aggregate[1:2]
	r := runtimeOf(2)
	forget := func(batch int, scope lethe.Scope) *protocol.Forgot {
		f, err := protocol.Forget(t.Context(), g, s, protocol.Request{Batch: batch, Scope: scope}, r)
		require.NoError(t, err)
		require.Positive(t, f.TrainSeconds)
		return f
	}
	require.Equal(t, 1, forget(1, lethe.ScopeShard).Shards)
	require.Equal(t, 4, forget(40, lethe.ScopeShard).Shards)
	require.Greater(t, forget(3, lethe.ScopeStubs).Shards, forget(3, lethe.ScopeShard).Shards,
		"their cut edges reach further")
	_, err := protocol.Forget(t.Context(), g, s, protocol.Request{Batch: 96, Scope: lethe.ScopeShard}, r)
	require.EqualError(t, err, "batch is 96, want 1 to 95")
}

// What is forgotten from a kept ensemble is what would be from one that was trained
// for it, whatever was forgotten from it before and whose it was.
func TestKeptEnsemblesChangeNothing(t *testing.T) {
	s := brief()
	s.Aggregate = []string{protocol.AggregateLearned}
	steps := 0
	infer := func(g *protocol.Graph, seed uint64, kept *protocol.Ensembles) *protocol.Membership {
		s := s
		s.Seed = seed
		r := runtimeOf(1)
		r.Ensembles, r.Epoch = kept, func(protocol.Epoch) { steps++ }
		m, err := protocol.Infer(t.Context(), g, s, protocol.Request{Batch: 10, Scope: lethe.ScopeShard}, r)
		require.NoError(t, err)
		return m
	}
	var kept protocol.Ensembles
	g, other := planted(120, 1), planted(120, 2)
	for _, run := range []struct {
		g    *protocol.Graph
		seed uint64
		kept bool
	}{{g, 1, false}, {g, 1, true}, {other, 1, false}, {g, 2, false}, {g, 1, false}, {g, 1, true}} {
		steps = 0
		want := infer(run.g, run.seed, nil)
		alone := steps
		steps = 0
		require.Equal(t, want, infer(run.g, run.seed, &kept))
		if run.kept {
			require.Less(t, steps, alone, "the ensemble is not trained again")
		} else {
			require.Equal(t, alone, steps)
		}
	}
}
