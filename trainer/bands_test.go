package trainer

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/trainer/kernels"
	"lethe/trainer/models"
)

// times returns so many copies of a graph side by side.
func (in Input) times(copies int) Input {
	out := Input{Rows: copies * in.Rows, Cols: in.Cols}
	for c := range copies {
		out.Features = append(out.Features, in.Features...)
		for _, e := range in.Edges {
			first := uint32(c * in.Rows)
			out.Edges = append(out.Edges, lethe.Edge{A: e.A + first, B: e.B + first})
		}
	}
	return out
}

// Of a large graph operators that work row by row take one band of rows after the other. In which band a row is
// cannot be seen in its probability.
func TestCopiesOfAGraphHaveItsProbabilities(t *testing.T) {
	const copies = 7
	slice := makeSlice(sliceSpec{timestep: 1, nodes: 150, features: 12, stubs: 3})
	sparse := makeSlice(sliceSpec{timestep: 1, nodes: 150, features: 12, stubs: 3})
	for i := range sparse.Features {
		if i%7 > 0 {
			sparse.Features[i] = 0
		}
	}
	for _, model := range models.Served().Names() {
		for _, hidden := range []int{16, 256} {
			e := newEngine(t, with(model, func(c *Config) { c.Hidden, c.Passes, c.WindowTimesteps = hidden, 2, 1 }),
				kernels.Default())
			for kind, s := range map[string]*lethe.Slice{"dense": slice, "sparse": sparse} {
				t.Run(fmt.Sprintf("%s/%d/%s", model, hidden, kind), func(t *testing.T) {
					c, _, err := e.Train(context.Background(), 0, nil, []*lethe.Slice{s})
					require.NoError(t, err)
					one := InputOfSlice(s)
					want := illicit(t, e, c, one)
					got := illicit(t, e, c, one.times(copies))
					for i, p := range got {
						require.Equal(t, want[i%one.Rows], p, "copy %d of row %d", i/one.Rows, i%one.Rows)
					}
				})
			}
		}
	}
}
