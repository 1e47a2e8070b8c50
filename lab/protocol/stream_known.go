package protocol

import (
	"slices"

	"lethe"
	"lethe/lab/measures"
	"lethe/lab/propagation"
	"lethe/scoring/quality"
)

// arrived tells of every node whether its label was in when the timestep was
// scored: a draw per transaction, keyed by it, with probability KnownLabels. A
// larger share keeps the labels of a smaller one.
func (s StreamSettings) arrived(snap *lethe.Snapshot) []bool {
	out := make([]bool, len(snap.Nodes))
	for i, n := range snap.Nodes {
		hi, lo := n.Pseudonym.Coordinates()
		draw := lethe.NewDraw(s.Seed, "protocol/known-labels", uint64(snap.Timestep), hi, lo)
		out[i] = n.Label != lethe.Unknown && draw.Float64() < s.KnownLabels
	}
	return out
}

// tuning is what the settings of propagation are chosen on for one aggregation:
// the graphs of the validation timesteps side by side, with the posteriors given
// when they were scored. Their labels have all arrived by the time the first
// test timestep is scored. What is rehearsed is what the test will ask: the
// labels that had arrived in time predict the others, by average precision.
type tuning struct {
	graph propagation.LabelledGraph
	// late are the nodes whose labels had not arrived, and inTime counts the
	// labels that had.
	late   []int
	inTime int
	choice *propagation.Choice
}

// add joins a validation timestep to the others.
func (t *tuning) add(snap *lethe.Snapshot, posteriors []float32, arrived []bool) {
	first := uint32(t.graph.NumNodes())
	for _, e := range snap.Undirected() {
		t.graph.Edges = append(t.graph.Edges, lethe.Edge{A: first + e.A, B: first + e.B})
	}
	t.graph.Posteriors = append(t.graph.Posteriors, posteriors...)
	for i, n := range snap.Nodes {
		t.graph.Known = append(t.graph.Known, classOf(n.Label))
		switch {
		case arrived[i]:
			t.inTime++
		case n.Label != lethe.Unknown:
			t.late = append(t.late, int(first)+i)
		}
	}
}

// propagate spreads the labels that had arrived over the graph of a test
// timestep; control is what the same settings make of it without them. Where none
// had arrived, or none to choose the settings by, the posteriors stay as they are.
func (t *tuning) propagate(snap *lethe.Snapshot, posteriors []float32, arrived []bool) (
	spread, control []float32, err error,
) {
	g := &propagation.LabelledGraph{Edges: snap.Undirected(), Classes: classesOfStream, Posteriors: posteriors}
	g.Known = slices.Repeat([]int{measures.NoClass}, len(snap.Nodes))
	if !slices.Contains(arrived, true) || t.inTime == 0 || len(t.late) == 0 {
		return posteriors, posteriors, nil
	}
	if t.choice == nil {
		t.graph.Classes = classesOfStream
		choice, err := propagation.Choose(&t.graph, propagation.ChoiceOptions{
			HeldOut: t.late, Candidates: candidates(), Measure: averagePrecision,
		})
		if err != nil {
			return nil, nil, err
		}
		t.choice = &choice
	}
	if control, err = propagation.Propagate(g, t.choice.Options); err != nil {
		return nil, nil, err
	}
	for i, n := range snap.Nodes {
		if arrived[i] {
			g.Known[i] = classOf(n.Label)
		}
	}
	spread, err = propagation.Propagate(g, t.choice.Options)
	return spread, control, err
}

// candidates are scoring's own, and weaker ones behind them: errors of direct
// neighbours only, and little smoothing. In a timestep few labels are known and
// neighbours agree less than in a citation graph; on the validation timesteps of
// Bitcoin-OTC the weak ones were better.
func candidates() []propagation.Options {
	out := propagation.Candidates()
	for _, factor := range []float64{0, 0.25, 0.5, 1} {
		weak := propagation.Defaults()
		if weak.Correct = factor > 0; weak.Correct {
			weak.ResidualScale, weak.ResidualFactor, weak.CorrectSteps = propagation.FDiff, factor, 1
		}
		weak.Smooth = false
		out = append(out, weak)
		weak.Smooth = true
		for _, weak.SmoothAlpha = range []float64{0.05, 0.1, 0.2} {
			out = append(out, weak)
		}
	}
	return out
}

// averagePrecision is that of the illicit class, and 0 where it is undefined.
func averagePrecision(posteriors []float32, classes int, truth []int) float64 {
	scores, illicit := make([]float64, len(truth)), make([]bool, len(truth))
	for i, class := range truth {
		scores[i], illicit[i] = float64(posteriors[i*classes+1]), class == 1
	}
	ap, _ := quality.AveragePrecision(scores, illicit)
	return ap
}

// classOf is the class that a label stands for, measures.NoClass if unknown.
func classOf(label lethe.Label) int { return int(label) - 1 }
