package layers

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gorgonia.org/gorgonia"

	"lethe/trainer/kernels"
)

// builderOf returns a builder for a batch of so many rows, and of room for more.
func builderOf(rows int) *Builder {
	b := NewBuilder(kernels.Portable(), rows+3, true)
	b.Work.Batch = NewBatch(rows, 1, make([]float32, rows), nil)
	return b
}

// leaf adds a differentiable matrix of two columns of ones.
func leaf(b *Builder, name string) *gorgonia.Node {
	return b.Input(name, slices.Repeat([]float32{1}, b.Capacity*2), true, b.Capacity, 2)
}

// scaled adds x times a factor.
func scaled(b *Builder, x *gorgonia.Node, factor float32) *gorgonia.Node {
	return Elementwise(b, "scaled", x,
		func(dst, x []float32) { b.Work.Kernels.Elements.Scale(dst, x, factor) },
		func(dst, _, g []float32) { b.Work.Kernels.Elements.Scale(dst, g, factor) })
}

// The gradients of a value that is used several times, seven in all, are added by our
// kernel in the rows in use. What lies behind them stays as it was.
func TestGradientsOfSeveralUsesAreAdded(t *testing.T) {
	b := builderOf(8)
	x := leaf(b, "x")
	twice := Sum(b, x, x)
	out := scaled(b, Sum(b, Sum(b, twice, twice), Sum(b, twice, x)), 1)
	require.NoError(t, b.Err())
	upstream := slices.Repeat([]float32{5}, b.Capacity*2)
	grads := b.GradientsOf(out, b.Input("R", upstream, false, b.Capacity, 2), gorgonia.Nodes{x})
	plan, err := b.Plan()
	require.NoError(t, err)
	require.NoError(t, plan.Run())
	got := Result(grads[0])
	for i, v := range got {
		want := 7 * upstream[i]
		if i >= 2*b.Work.Batch.Rows {
			want = 0
		}
		require.Equal(t, want, v, "value %d", i)
	}
}

// An operator of Gorgonia would allocate and read what lies behind the rows in
// use, so a graph that needs one other than a sum of gradients is refused.
func TestForeignOperatorsAreRefused(t *testing.T) {
	for name, op := range map[string]func(x *gorgonia.Node) (*gorgonia.Node, error){
		"tanh":       gorgonia.Tanh,
		"difference": func(x *gorgonia.Node) (*gorgonia.Node, error) { return gorgonia.Sub(x, x) },
		"scalar": func(x *gorgonia.Node) (*gorgonia.Node, error) {
			return gorgonia.Add(x, gorgonia.NewScalar(x.Graph(), gorgonia.Float32, gorgonia.WithName("s")))
		},
	} {
		b := builderOf(8)
		_, err := op(leaf(b, "x"))
		require.NoError(t, err)
		_, err = b.Plan()
		require.ErrorContains(t, err, "sum of gradients", name)
	}
}

// Two operators whose nodes have one hash stay two.
func TestNodesOfOneHashStayApart(t *testing.T) {
	b := builderOf(8)
	x := leaf(b, "x")
	first := scaled(b, x, 0.25)
	b.count--
	second := scaled(b, x, 0.5)
	require.NoError(t, b.Err())
	require.Equal(t, first.Hashcode(), second.Hashcode())
	require.NotSame(t, first, second)
	plan, err := b.Plan()
	require.NoError(t, err)
	require.NoError(t, plan.Run())
	require.NotEqual(t, Result(first), Result(second))
}

// A sum that is not of the gradients in question is noticed.
func TestSumsAreThoseOfTheirTerms(t *testing.T) {
	b := builderOf(8)
	x, y, z := leaf(b, "x"), leaf(b, "y"), leaf(b, "z")
	add := func(x, y *gorgonia.Node) *gorgonia.Node {
		n, err := gorgonia.Add(x, y)
		require.NoError(t, err)
		return n
	}
	sum := add(add(x, y), z)
	require.True(t, b.isSum(sum, gorgonia.Nodes{x, y, z}))
	require.True(t, b.isSum(x, gorgonia.Nodes{x}))
	for _, other := range []gorgonia.Nodes{{}, {x}, {y, x, z}, {x, z, y}, {x, y}, {x, x, z}, {x, y, z, z}} {
		require.False(t, b.isSum(sum, other))
	}

	// Another term than the operators were asked for.
	b.terms = map[*gorgonia.Node]gorgonia.Nodes{}
	out := ReLU(b, x)
	_, err := gorgonia.Backpropagate(gorgonia.Nodes{out}, gorgonia.Nodes{y}, gorgonia.Nodes{x})
	require.ErrorContains(t, err, errMerged.Error())
}
