package trainer

import (
	"context"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/trainer/kernels"
	"lethe/trainer/models"
)

// citationSlice is shaped like a shard of Cora: 108 nodes and 60 stubs with
// 1,433 features, of which 1.3 % are not 0, and 7 classes.
func citationSlice() *lethe.Slice {
	const nodes, stubs, features, classes = 108, 60, 1433, 7
	d := lethe.NewDraw(9, "citation slice")
	s := &lethe.Slice{Previous: lethe.NoTimestep, FeatureCount: features, Features: make([]float32, nodes*features)}
	for i := range nodes {
		s.Nodes = append(s.Nodes, lethe.Pseudonym{byte(i)})
		s.Labels = append(s.Labels, lethe.Label(1+d.IntN(classes)))
		for range features * 13 / 1000 {
			s.Row(i)[d.IntN(features)] = 0.05
		}
		for range min(i, 2) {
			s.Edges = append(s.Edges, lethe.Edge{A: uint32(d.IntN(i)), B: uint32(i)})
		}
	}
	slices.SortFunc(s.Edges, lethe.Edge.Compare)
	s.Edges = slices.Compact(s.Edges)
	for i := range stubs {
		s.Stubs = append(s.Stubs, lethe.Stub{Owner: uint32(i * nodes / stubs), Lambda: d.Float32()})
	}
	return s
}

// A step of each model on a citation shard: hidden 64, Adam as in the paper.
func BenchmarkCitationStep(b *testing.B) {
	s := citationSlice()
	for _, model := range models.Served().Names() {
		for _, k := range kernelSets(b) {
			b.Run(model+"/"+k.Name, func(b *testing.B) {
				e := newEngine(b, with(model, func(c *Config) { c.Classes, c.LearningRate, c.WeightDecay = 7, 0.01, 5e-4 }), k)
				benchmarkSteps(b, e, s)
			})
		}
	}
}

// A step of the Elliptic GIN on a shard of 208 nodes and 92 stubs.
func BenchmarkEllipticStep(b *testing.B) {
	s := makeSlice(sliceSpec{timestep: 1, nodes: 208, features: 165, stubs: 92})
	for _, hidden := range []int{64, 128, 256} {
		b.Run(kernels.Default().Name, func(b *testing.B) {
			e := newEngine(b, with(models.EllipticGIN, func(c *Config) { c.Hidden = hidden }), kernels.Default())
			benchmarkSteps(b, e, s)
		})
	}
}

// benchmarkSteps measures optimiser steps of a warm program.
func benchmarkSteps(b *testing.B, e *Engine, s *lethe.Slice) {
	state := e.fresh(0, s.FeatureCount)
	batches, rows, form := e.prepareWindow([]*lethe.Slice{s}, state.Architecture)
	p, err := e.newFitting(state, batches, rows, form)
	require.NoError(b, err)
	p.Load(batches[0])
	require.NoError(b, e.step(p))
	b.ReportAllocs()
	steps, before := 0, cpuMilliseconds(b)
	for b.Loop() {
		p.Work.Key++
		if err := e.step(p); err != nil {
			b.Fatal(err)
		}
		steps++
	}
	b.ReportMetric((cpuMilliseconds(b)-before)/float64(steps), "cpu-ms/op")
}

// cpuMilliseconds is the processor time of the process, which other processes
// disturb less than the clock on the wall.
func cpuMilliseconds(b *testing.B) float64 {
	var usage syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e6
}

// After a step that sizes the buffers, a step allocates only the key of its draws.
func TestStepsAllocateNextToNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector allocates")
	}
	s := citationSlice()
	for _, model := range models.Served().Names() {
		e := newEngine(t, with(model, func(c *Config) { c.Classes, c.Hidden, c.WindowTimesteps = 7, 8, 1 }),
			kernels.Default())
		count := func(passes int) float64 {
			e.config.Passes = passes
			return testing.AllocsPerRun(1, func() {
				_, _, err := e.Train(context.Background(), 0, nil, []*lethe.Slice{s})
				require.NoError(t, err)
			})
		}
		few, many := count(3), count(23)
		require.Less(t, (many-few)/20, 2.0, "%s: allocations per step", model)
	}
}

// The answer of an Elliptic GIN about a timestep of 50,000 transactions.
func BenchmarkEllipticAnswer(b *testing.B) {
	const nodes, features = 50_000, 165
	d := lethe.NewDraw(3, "answer")
	in := Input{Rows: nodes, Cols: features, Features: make([]float32, nodes*features)}
	for i := range in.Features {
		in.Features[i] = d.Float32()
	}
	for i := 1; i < nodes; i++ {
		in.Edges = append(in.Edges, lethe.Edge{A: uint32(d.IntN(i)), B: uint32(i)})
	}
	in = in.Shared()
	for _, k := range kernelSets(b) {
		b.Run(k.Name, func(b *testing.B) {
			e := newEngine(b, with(models.EllipticGIN, func(c *Config) { c.Hidden = 64 }), k)
			c := e.fresh(0, features)
			_, err := e.Probabilities(b.Context(), c, in)
			require.NoError(b, err)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Probabilities(b.Context(), c, in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
