package protocol

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/lab/networks"
	"lethe/partition/graph"
	"lethe/partition/repair"
	"lethe/trainer"
	"lethe/trainer/kernels"
)

// The hidden layer is the model's own: GraphSAGE's second convolution on it gives
// the posteriors that the engine gives.
func TestHiddenLayerLeadsToThePosteriors(t *testing.T) {
	const nodes, columns, width, classes = 30, 5, 6, 3
	draw := lethe.NewDraw(1, "hidden-layer")
	snap := &lethe.Snapshot{FeatureCount: columns}
	for i := range nodes {
		snap.Nodes = append(snap.Nodes, lethe.SnapshotNode{Pseudonym: rowPseudonym(i), Label: labelOf(i % classes)})
		for range columns {
			snap.Features = append(snap.Features, max(0, float32(draw.Normal())))
		}
		if i > 0 {
			snap.Payments = append(snap.Payments, lethe.Arc{Source: uint32(draw.IntN(i)), Target: uint32(i)})
		}
	}
	slice, err := repair.OneSlice(snap, lethe.NoTimestep, make(graph.Assignment, nodes), 1, 0,
		repair.Config{Method: repair.None, Tau: 1})
	require.NoError(t, err)
	s := Defaults("sage")
	s.Hidden, s.Epochs = width, 20
	e, err := newShardModels(s, classes, 1, trainer.Window, Runtime{Kernels: kernels.Default(), Workers: 1, Now: time.Now})
	require.NoError(t, err)
	require.NoError(t, e.train(t.Context(), [][]*lethe.Slice{{slice}}))
	answers, err := e.ask(t.Context(), trainer.InputOf(snap))
	require.NoError(t, err)

	c := e.models[0]
	h := hiddenLayer(c, trainer.InputOf(snap)).Values
	around, degree := make([]float64, len(h)), make([]float64, nodes)
	for _, p := range snap.Undirected() {
		degree[p.A]++
		degree[p.B]++
		for j := range width {
			around[int(p.A)*width+j] += h[int(p.B)*width+j]
			around[int(p.B)*width+j] += h[int(p.A)*width+j]
		}
	}
	layout, _ := networks.All().Tensors(c.Architecture)
	at := func(name string, p int) float64 {
		i, _ := layout.Index(name)
		return float64(c.Params[layout.Specs[i].From+p])
	}
	for i := range nodes {
		var odds [classes]float64
		sum := 0.0
		for class := range classes {
			logit := at("conv2.lin_l.bias", class)
			for j := range width {
				logit += around[i*width+j]/max(1, degree[i])*at("conv2.lin_l.weight", j*classes+class) +
					h[i*width+j]*at("conv2.lin_r.weight", j*classes+class)
			}
			odds[class] = math.Exp(logit)
			sum += odds[class]
		}
		for class, v := range odds {
			require.InDelta(t, v/sum, answers.Shards[0][i*classes+class], 1e-5, "node %d", i)
		}
	}
}
