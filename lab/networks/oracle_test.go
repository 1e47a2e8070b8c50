package networks_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"lethe"
	"lethe/lab/networks"
	"lethe/trainer/kernels"
	"lethe/trainer/layers"
	"lethe/trainer/models"
)

const (
	oracleRows, oracleFeatures, oracleHidden, oracleClasses = 9, 6, 5, 3
	// oracleTolerance is relative to the largest value of a tensor: some tens of
	// float32 roundings of 2^-24.
	oracleTolerance = 4e-6
)

// oracle computes a model's logits, its loss and the gradients of its parameters
// with Gorgonia's own operators, its own gradients and its own machine.
type oracle struct {
	t     *testing.T
	graph *gorgonia.ExprGraph
	batch *layers.Batch
	// params holds a leaf per parameter of the network, in its order.
	params gorgonia.Nodes
	named  map[string]*gorgonia.Node
}

func (o *oracle) must(n *gorgonia.Node, err error) *gorgonia.Node {
	require.NoError(o.t, err)
	return n
}

// matrix adds a leaf that holds a copy of values. A vector becomes a row.
func (o *oracle) matrix(name string, values []float32, shape ...int) *gorgonia.Node {
	if len(shape) == 1 {
		shape = []int{1, shape[0]}
	}
	value := tensor.New(tensor.WithShape(shape...), tensor.WithBacking(append([]float32(nil), values...)))
	return gorgonia.NewMatrix(o.graph, tensor.Float32,
		gorgonia.WithShape(shape...), gorgonia.WithName(name), gorgonia.WithValue(value))
}

func (o *oracle) linear(x *gorgonia.Node, weight, bias string) *gorgonia.Node {
	return o.shift(o.must(gorgonia.Mul(x, o.named[weight])), bias)
}

func (o *oracle) shift(x *gorgonia.Node, bias string) *gorgonia.Node {
	return o.must(gorgonia.BroadcastAdd(x, o.named[bias], nil, []byte{0}))
}

func (o *oracle) relu(x *gorgonia.Node) *gorgonia.Node { return o.must(gorgonia.Rectify(x)) }

// propagation is S = (D+I)^-1/2 (A+I) (D+I)^-1/2 as a dense matrix.
func (o *oracle) propagation(edges []lethe.Edge) *gorgonia.Node {
	s, degrees := make([]float32, oracleRows*oracleRows), make([]float64, oracleRows)
	for i := range degrees {
		degrees[i] = 1
	}
	for _, e := range edges {
		degrees[e.A]++
		degrees[e.B]++
	}
	set := func(i, j uint32) { s[i*oracleRows+j] = float32(1 / math.Sqrt(degrees[i]*degrees[j])) }
	for _, e := range edges {
		set(e.A, e.B)
		set(e.B, e.A)
	}
	for i := range uint32(oracleRows) {
		set(i, i)
	}
	return o.matrix("S", s, oracleRows, oracleRows)
}

// mlp is relu(x·W1 + b1)·W2 + b2.
func (o *oracle) mlp(x *gorgonia.Node, _ []lethe.Edge) *gorgonia.Node {
	return o.linear(o.relu(o.linear(x, "lin1.weight", "lin1.bias")), "lin2.weight", "lin2.bias")
}

// gcn is S·relu(S·x·W1 + b1)·W2 + b2.
func (o *oracle) gcn(x *gorgonia.Node, edges []lethe.Edge) *gorgonia.Node {
	s := o.propagation(edges)
	for i := 1; i <= 2; i++ {
		conv := fmt.Sprintf("conv%d.", i)
		x = o.must(gorgonia.Mul(s, o.must(gorgonia.Mul(x, o.named[conv+"lin.weight"]))))
		if x = o.shift(x, conv+"bias"); i == 1 {
			x = o.relu(x)
		}
	}
	return x
}

// loss is Σ w[y]·−log softmax(z)[y] / Σ w[y] over the labelled rows.
func (o *oracle) loss(logits *gorgonia.Node) *gorgonia.Node {
	shares, sum := make([]float32, oracleRows*oracleClasses), float32(0)
	for i, y := range o.batch.Labels {
		if y >= 0 {
			shares[i*oracleClasses+int(y)] = o.batch.ClassWeights[y]
			sum += o.batch.ClassWeights[y]
		}
	}
	for i := range shares {
		shares[i] /= -sum
	}
	// The logarithm of the norm, without a largest value taken out: logits are small.
	norm := o.must(gorgonia.Log(o.must(gorgonia.Sum(o.must(gorgonia.Exp(logits)), 1))))
	norm = o.must(gorgonia.Reshape(norm, tensor.Shape{oracleRows, 1}))
	logs := o.must(gorgonia.BroadcastSub(logits, norm, nil, []byte{1}))
	return o.must(gorgonia.Sum(o.must(gorgonia.HadamardProd(logs, o.matrix("shares", shares, oracleRows, oracleClasses)))))
}

// Gorgonia's tape machine, on the same formulas in its own operators, computes the
// logits, the loss and the gradients that our operators do.
func TestModelsAgreeWithGorgoniasMachine(t *testing.T) {
	for model, build := range map[string]func(o *oracle, x *gorgonia.Node, edges []lethe.Edge) *gorgonia.Node{
		networks.MLP: (*oracle).mlp, networks.GCN: (*oracle).gcn,
	} {
		for _, form := range []models.Form{models.Sparse, models.Cached, models.Differentiable} {
			t.Run(fmt.Sprintf("%s/%d", model, form), func(t *testing.T) { compareWithMachine(t, model, form, build) })
		}
	}
}

func compareWithMachine(t *testing.T, model string, form models.Form,
	build func(o *oracle, x *gorgonia.Node, edges []lethe.Edge) *gorgonia.Node) {
	a := networks.Defaults(model).For(model).Architecture(oracleFeatures)
	a.Widths = []int{oracleHidden}
	a.Features, a.Classes = oracleFeatures, oracleClasses
	features := normals("features", oracleRows*oracleFeatures)
	edges := []lethe.Edge{{A: 0, B: 1}, {A: 1, B: 2}, {A: 0, B: 2}, {A: 2, B: 3}, {A: 4, B: 5}, {A: 3, B: 7}}
	batch := layers.NewBatch(oracleRows, oracleFeatures, features, edges)
	batch.Labels, batch.ClassWeights = []int32{0, 1, 2, -1, 1, 0, 2, 2, -1}, []float32{1, 2.5, 0.5}
	networks.All().Prepare(a, batch, form, features, kernels.Default())

	b := layers.NewBuilder(kernels.Default(), oracleRows, true)
	n, err := networks.All().NewNetwork(b, a, models.Settings{}, form, oracleRows)
	require.NoError(t, err)
	copy(n.Params.Values, normals("weights", len(n.Params.Values)))
	leaves := n.Nodes
	if form == models.Differentiable {
		leaves = append(leaves[:len(leaves):len(leaves)], n.Features)
	}
	grads := n.Gradients(layers.CrossEntropy(n.Builder, n.Logits), leaves)
	plan, err := n.Plan()
	require.NoError(t, err)
	n.Load(batch)
	require.NoError(t, plan.Run())

	o := &oracle{t: t, graph: gorgonia.NewGraph(), batch: batch, named: make(map[string]*gorgonia.Node)}
	for i, spec := range n.Params.Layout.Specs {
		leaf := o.matrix(spec.Name, n.Params.Slice(i), spec.Shape...)
		o.params, o.named[spec.Name] = append(o.params, leaf), leaf
	}
	x := o.matrix("x", features, oracleRows, oracleFeatures)
	logits := build(o, x, edges)
	loss := o.loss(logits)
	want, err := gorgonia.Grad(loss, append(o.params[:len(o.params):len(o.params)], x)...)
	require.NoError(t, err)
	kept := make([]gorgonia.Value, len(want)+2)
	for i, node := range append(want[:len(want):len(want)], logits, loss) {
		gorgonia.Read(node, &kept[i]) // the machine reuses memory
	}
	machine := gorgonia.NewTapeMachine(o.graph)
	defer machine.Close()
	require.NoError(t, machine.RunAll())

	requireClose(t, "logits", kept[len(want)].Data().([]float32), layers.Result(n.Logits))
	require.InEpsilon(t, float64(kept[len(want)+1].Data().(float32)), n.Work.Loss, oracleTolerance)
	for i, g := range grads {
		name := "features"
		if i < len(n.Nodes) {
			name = n.Params.Layout.Specs[i].Name
		}
		requireClose(t, name, kept[i].Data().([]float32), layers.Result(g))
	}
}

func normals(name string, count int) []float32 {
	d, values := lethe.NewDraw(7, name), make([]float32, count)
	for i := range values {
		values[i] = float32(d.Normal()) / 2
	}
	return values
}

func requireClose(t *testing.T, name string, want, got []float32) {
	t.Helper()
	require.Len(t, got, len(want), name)
	largest := 0.0
	for _, v := range want {
		largest = max(largest, math.Abs(float64(v)))
	}
	for i := range want {
		require.InDelta(t, want[i], got[i], oracleTolerance*largest, "%s, value %d", name, i)
	}
}
