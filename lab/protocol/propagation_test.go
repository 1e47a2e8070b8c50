package protocol_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/internal/realdata"
	"lethe/lab/citation"
	"lethe/lab/measures"
	"lethe/lab/propagation"
)

// bayes scores every paper by multinomial naive Bayes on the words of the known
// ones: a classifier that sees no edge.
func bayes(c *citation.Graph, known []int) []float32 {
	words, papers := make([][]float64, c.Classes), make([]float64, c.Classes)
	total := make([]float64, c.Classes)
	for class := range words {
		words[class] = make([]float64, c.Features.Columns)
	}
	for i, class := range known {
		if class == measures.NoClass {
			continue
		}
		papers[class]++
		columns, _ := c.Features.Row(i)
		for _, w := range columns {
			words[class][w]++
			total[class]++
		}
	}
	var out []float32
	for i := range known {
		scores, largest := make([]float64, c.Classes), math.Inf(-1)
		columns, _ := c.Features.Row(i)
		for class := range scores {
			scores[class] = math.Log(papers[class] + 1)
			for _, w := range columns {
				scores[class] += math.Log((words[class][w] + 1) / (total[class] + float64(c.Features.Columns)))
			}
			largest = max(largest, scores[class])
		}
		sum := 0.0
		for class := range scores {
			scores[class] = math.Exp((scores[class] - largest) / 5) // softer, as an ensemble is
			sum += scores[class]
		}
		for _, s := range scores {
			out = append(out, float32(s/sum))
		}
	}
	return out
}

// A classifier without edges trained on 70 % of Cora, settings chosen on 10 %:
// known labels and edges bring its accuracy on the rest to that of a graph
// network that sees everything, which is about 88 %.
func TestPropagationOnCora(t *testing.T) {
	c, err := citation.Load(realdata.Path(t, "planetoid", "cora.npz"))
	require.NoError(t, err)
	draw := lethe.NewDraw(1, "test/split")
	trained, known, test := make([]int, c.NumNodes), make([]int, c.NumNodes), make([]int, c.NumNodes)
	var heldOut []int
	for i, label := range c.Labels {
		trained[i], known[i], test[i] = measures.NoClass, label, measures.NoClass
		switch x := draw.IntN(10); {
		case x < 2:
			known[i], test[i] = measures.NoClass, label
		case x == 2:
			heldOut = append(heldOut, i)
		default:
			trained[i] = label
		}
	}
	g := &propagation.LabelledGraph{Edges: c.Edges, Classes: c.Classes, Posteriors: bayes(c, trained), Known: known}
	options := propagation.ChoiceDefaults()
	options.HeldOut = heldOut
	choice, err := propagation.Choose(g, options)
	require.NoError(t, err)
	accuracy := func(posteriors []float32) float64 {
		s, err := measures.SummarisePosteriors(posteriors, c.Classes, test)
		require.NoError(t, err)
		return s.Accuracy
	}
	propagated := func(opts propagation.Options) []float32 {
		out, err := propagation.Propagate(g, opts)
		require.NoError(t, err)
		return out
	}
	before, after := accuracy(g.Posteriors), accuracy(propagated(choice.Options))
	t.Logf("chosen %q on %d labels: %.3f for %.3f; test nodes %.3f for %.3f",
		choice.Options, choice.Hidden, choice.Measure, choice.Without, after, before)
	require.Less(t, before, 0.8)
	require.Greater(t, after, 0.85)

	// Rough settings do as well, so the choice is not what carries it.
	rough := propagation.Defaults()
	rough.Correct = false
	require.Greater(t, accuracy(propagated(rough)), 0.84)
}
