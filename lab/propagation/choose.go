package propagation

import (
	"errors"
	"fmt"
	"math"

	"lethe"
	"lethe/lab/measures"
)

// Measure rates posteriors (rows of classes probabilities) against the true
// class of each row; larger is better.
type Measure func(posteriors []float32, classes int, truth []int) float64

// ChoiceOptions say how Choose tells settings apart; begin with ChoiceDefaults.
type ChoiceOptions struct {
	// HeldOut lists nodes with known labels that are hidden and predicted. Name
	// nodes that no model was trained on, where there are any: on its own
	// training nodes a model needs no help, and propagation looks useless. Nil
	// hides each known label once, in Folds parts; the posteriors of training
	// nodes should then be those of aggregation.Combiner with owners.
	HeldOut []int
	// Folds is the number of parts; HeldOut overrides it.
	Folds int
	// Seed keys the draw of the parts.
	Seed uint64
	// Candidates are tried in their order.
	Candidates []Options
	// Measure decides.
	Measure Measure
}

// Choice is the outcome of Choose.
type Choice struct {
	Options Options `json:"options"`
	// Measure is that of the chosen options on the hidden labels, Without that
	// of the posteriors as they came.
	Measure float64 `json:"measure"`
	Without float64 `json:"without"`
	// Hidden counts the labels it rests on.
	Hidden int `json:"hidden"`
}

// ChoiceDefaults hides each known label once, in five parts, tries Candidates and
// takes the most accurate.
func ChoiceDefaults() ChoiceOptions {
	return ChoiceOptions{Folds: 5, Candidates: Candidates(), Measure: accuracyOf}
}

// Candidates returns the settings tried by default: no propagation, then the
// smooth step alone, the correct step alone, and both, with the strengths that
// Huang et al. 2021 search among.
func Candidates() []Options {
	type strength struct {
		alpha float64
		steps int
	}
	c := Defaults()
	c.Correct = false
	corrections := []Options{c}
	for _, s := range []strength{{0.5, 10}, {0.85, 10}, {0.95, 50}} {
		c = Defaults()
		c.CorrectAlpha, c.CorrectSteps = s.alpha, s.steps
		corrections = append(corrections, c)
	}
	for _, factor := range []float64{0.5, 1} {
		c = Defaults()
		c.ResidualScale, c.ResidualFactor = FDiff, factor
		corrections = append(corrections, c)
	}
	var out []Options
	for _, c := range corrections {
		c.Smooth = false
		out = append(out, c)
		for _, s := range []strength{{0.85, 10}, {0.5, 10}, {0.7, 10}, {0.95, 10}, {0.95, 50}} {
			c.Smooth, c.SmoothAlpha, c.SmoothSteps = true, s.alpha, s.steps
			out = append(out, c)
		}
	}
	return out
}

// Choose hides known labels, propagates the others with every
// candidate, and returns the one that predicts the hidden ones best; among
// equals the first. It sees nothing but the known labels, so whoever erases one
// calls it again, which takes seconds on thousands of nodes and trains nothing.
//
// It returns an error if an option or the graph is not valid, or if fewer than
// two labels are known.
func Choose(g *LabelledGraph, opts ChoiceOptions) (Choice, error) {
	if err := g.validate(); err != nil {
		return Choice{}, err
	}
	parts, err := opts.parts(g.Known)
	if err != nil {
		return Choice{}, err
	}
	d, err := newDiffusion(g.NumNodes(), g.Edges)
	if err != nil {
		return Choice{}, err
	}
	out := Choice{Measure: math.Inf(-1)}
	folds := newFolds(g, parts)
	out.Without, out.Hidden = d.measureHidden(folds, Options{}, opts.Measure)
	for i, candidate := range opts.Candidates {
		if err := candidate.Validate(); err != nil {
			return Choice{}, fmt.Errorf("candidate %d: %w", i, err)
		}
		if measure, _ := d.measureHidden(folds, candidate, opts.Measure); measure > out.Measure {
			out.Options, out.Measure = candidate, measure
		}
	}
	return out, nil
}

// parts returns the sets of nodes to hide in turn.
func (o *ChoiceOptions) parts(known []int) ([][]int, error) {
	if o.HeldOut != nil {
		hidden := make(map[int]bool, len(o.HeldOut))
		for _, node := range o.HeldOut {
			if node < 0 || node >= len(known) || known[node] == measures.NoClass || hidden[node] {
				return nil, fmt.Errorf("held-out node %d has no known label or is listed twice", node)
			}
			hidden[node] = true
		}
		if len(o.HeldOut) == 0 {
			return nil, errors.New("no held-out node")
		}
		return [][]int{o.HeldOut}, nil
	}
	var nodes []int
	for node, class := range known {
		if class != measures.NoClass {
			nodes = append(nodes, node)
		}
	}
	if o.Folds < 2 || o.Folds > len(nodes) {
		return nil, fmt.Errorf("%d folds of %d known labels, want at least 2 and a label each", o.Folds, len(nodes))
	}
	draw := lethe.NewDraw(o.Seed, "scoring/folds", uint64(o.Folds))
	for i := len(nodes) - 1; i > 0; i-- {
		j := draw.IntN(i + 1)
		nodes[i], nodes[j] = nodes[j], nodes[i]
	}
	parts := make([][]int, o.Folds)
	for i, node := range nodes {
		parts[i%o.Folds] = append(parts[i%o.Folds], node)
	}
	return parts, nil
}

// accuracyOf is the share of rows whose most likely class is the true one.
func accuracyOf(posteriors []float32, classes int, truth []int) float64 {
	right := 0
	for i, class := range measures.MostLikely(posteriors, classes) {
		if class == truth[i] {
			right++
		}
	}
	if right == 0 {
		return 0 // of no rows too
	}
	return float64(right) / float64(len(truth))
}
