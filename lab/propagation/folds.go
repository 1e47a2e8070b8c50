package propagation

import (
	"slices"

	"lethe/lab/measures"
)

// fold is a graph with a part of its known labels hidden.
type fold struct {
	graph LabelledGraph
	// hidden lists the part's nodes, truth their classes.
	hidden, truth []int
	// corrected is what the correct step made of the graph with the options that
	// correction holds, kept because candidates that share it follow each other.
	corrected  []float64
	correction Options
}

// newFolds hides one part after the other.
func newFolds(g *LabelledGraph, parts [][]int) []*fold {
	folds := make([]*fold, len(parts))
	for i, part := range parts {
		f := &fold{graph: *g, hidden: part}
		f.graph.Known = slices.Clone(g.Known)
		for _, node := range part {
			f.graph.Known[node] = measures.NoClass
			f.truth = append(f.truth, g.Known[node])
		}
		folds[i] = f
	}
	return folds
}

// propagate is that of the diffusion on the fold's graph.
func (f *fold) propagate(d *diffusion, opts Options) []float32 {
	correction := opts
	correction.Smooth, correction.SmoothAlpha, correction.SmoothSteps = false, 0, 0
	if f.corrected == nil || f.correction != correction {
		f.corrected, f.correction = d.corrected(&f.graph, opts), correction
	}
	return d.smoothed(slices.Clone(f.corrected), &f.graph, opts)
}

// measureHidden predicts the hidden part of every fold from its other labels and
// measures all parts as one set, whose size it returns too.
func (d *diffusion) measureHidden(folds []*fold, opts Options, measure Measure) (float64, int) {
	var posteriors []float32
	var truth []int
	for _, f := range folds {
		result, classes := f.propagate(d, opts), f.graph.Classes
		for _, node := range f.hidden {
			posteriors = append(posteriors, result[node*classes:][:classes]...)
		}
		truth = append(truth, f.truth...)
	}
	return measure(posteriors, folds[0].graph.Classes, truth), len(truth)
}
