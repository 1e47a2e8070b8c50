package propagation

import (
	"fmt"
	"math"

	"lethe"
	"lethe/lab/measures"
)

// LabelledGraph is a scored graph of which some labels are known: the input of
// Propagate.
type LabelledGraph struct {
	// Edges are undirected; a pair listed twice or both ways counts once.
	Edges []lethe.Edge
	// Classes is the number of classes, at least 2.
	Classes int
	// Posteriors is row-major: one row of Classes probabilities per node.
	Posteriors []float32
	// Known has one entry per node: its class, 0 to Classes-1, or measures.NoClass.
	Known []int
}

// NumNodes returns the number of nodes.
func (g *LabelledGraph) NumNodes() int { return len(g.Known) }

// validate reports what does not fit together, except for the edges.
func (g *LabelledGraph) validate() error {
	if g.Classes < 2 {
		return fmt.Errorf("%d classes, want at least 2", g.Classes)
	}
	if got, want := len(g.Posteriors), g.NumNodes()*g.Classes; got != want {
		return fmt.Errorf("%d posteriors, want %d for %d nodes of %d classes", got, want, g.NumNodes(), g.Classes)
	}
	for i, class := range g.Known {
		if class != measures.NoClass && (class < 0 || class >= g.Classes) {
			return fmt.Errorf("node %d has class %d, want 0 to %d, or %d if unknown", i, class, g.Classes-1, measures.NoClass)
		}
	}
	for at, p := range g.Posteriors {
		if !(p >= 0) || math.IsInf(float64(p), 1) {
			return fmt.Errorf("node %d has probability %v of class %d, want a number of at least 0", at/g.Classes, p,
				at%g.Classes)
		}
	}
	return nil
}

// Propagate lets known labels speak for their neighbourhood: Correct and Smooth
// (Huang, He, Singh, Lim and Benson, "Combining Label Propagation and Simple
// Models Out-performs Graph Neural Networks", ICLR 2021). With S = D^-1/2 A
// D^-1/2, posteriors Z and one-hot known labels Y:
//
//	correct  E = Y - Z on known nodes, 0 elsewhere, spreads along the edges; what
//	         arrives at a node that is not known, scaled, is added to its row.
//	smooth   G starts as Y on known nodes and as the corrected row elsewhere;
//	         G <- (1-α) G_0 + α S G.
//
// The result has the layout of the posteriors; rows are cut at 0 and scaled to
// sum to 1, which leaves their order alone, and a row with nothing left is the
// posterior itself. So are the rows of nodes without neighbours that are not
// known. Rows of known nodes have seen their own label: never measure on them.
//
// Nothing is trained and nothing is kept: the labels of this call are all it
// sees, so erasing one costs the next call without it. It must be given only
// labels that had arrived when the score is due. The result is a function of
// its arguments, and renumbering the nodes renumbers it up to rounding.
//
// It takes O((nodes + edges) · classes) per round, and returns an error if an
// option is out of bounds or the parts of the graph do not fit.
func Propagate(g *LabelledGraph, opts Options) ([]float32, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	if err := g.validate(); err != nil {
		return nil, err
	}
	d, err := newDiffusion(g.NumNodes(), g.Edges)
	if err != nil {
		return nil, err
	}
	return d.propagate(g, opts), nil
}

// propagate runs the steps on checked arguments.
func (d *diffusion) propagate(g *LabelledGraph, opts Options) []float32 {
	return d.smoothed(d.corrected(g, opts), g, opts)
}

// corrected returns the posteriors after the correct step.
func (d *diffusion) corrected(g *LabelledGraph, opts Options) []float64 {
	z := make([]float64, len(g.Posteriors))
	for i, p := range g.Posteriors {
		z[i] = float64(p)
	}
	if opts.Correct {
		d.correct(z, g, opts)
	}
	return z
}

// smoothed returns corrected rows after the smooth step as distributions, or the
// posteriors as they came if there was no step at all. It overwrites the rows that
// it is given.
func (d *diffusion) smoothed(z []float64, g *LabelledGraph, opts Options) []float32 {
	if !opts.Correct && !opts.Smooth {
		return append([]float32(nil), g.Posteriors...)
	}
	if opts.Smooth {
		for i, class := range g.Known {
			if class != measures.NoClass {
				row := z[i*g.Classes:][:g.Classes]
				clear(row)
				row[class] = 1
			}
		}
		z = d.spread(z, g.Classes, opts.SmoothAlpha, opts.SmoothSteps)
	}
	out := make([]float32, len(z))
	for i := range g.Known {
		from, to := i*g.Classes, (i+1)*g.Classes
		distribution(out[from:to], z[from:to], g.Posteriors[from:to])
	}
	return out
}

// correct adds the neighbourhood's error to the rows of z that are not known.
func (d *diffusion) correct(z []float64, g *LabelledGraph, opts Options) {
	errors := make([]float64, len(z))
	known, total := 0, 0.0
	for i, class := range g.Known {
		if class == measures.NoClass {
			continue
		}
		row := errors[i*g.Classes:][:g.Classes]
		for c := range row {
			row[c] = -z[i*g.Classes+c]
		}
		row[class]++
		known++
		total += absoluteSum(row)
	}
	if known == 0 {
		return
	}
	if opts.ResidualScale == FDiff {
		held := func(node int) bool { return g.Known[node] != measures.NoClass }
		errors = d.average(errors, g.Classes, opts.CorrectSteps, held)
	} else {
		errors = d.spread(errors, g.Classes, opts.CorrectAlpha, opts.CorrectSteps)
	}
	for i, class := range g.Known {
		if class != measures.NoClass {
			continue
		}
		row := errors[i*g.Classes:][:g.Classes]
		factor := opts.ResidualFactor
		if opts.ResidualScale == Autoscale {
			sum := absoluteSum(row)
			if sum == 0 {
				continue // no known label within reach
			}
			factor = total / float64(known) / sum
		}
		for c, e := range row {
			z[i*g.Classes+c] += float64(factor * e)
		}
	}
}

// distribution writes values, cut at 0 and scaled to sum to 1, or the fallback
// if nothing is left of them.
func distribution(out []float32, values []float64, fallback []float32) {
	sum := 0.0
	for _, v := range values {
		sum += max(0, v)
	}
	if sum == 0 {
		copy(out, fallback)
		return
	}
	for c, v := range values {
		out[c] = float32(max(0, v) / sum)
	}
}

func absoluteSum(row []float64) float64 {
	sum := 0.0
	for _, v := range row {
		sum += math.Abs(v)
	}
	return sum
}
