package propagation_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/lab/measures"
	"lethe/lab/propagation"
	"lethe/scoring/graphtest"
)

// Edges between random nodes say nothing: the choice is to leave right
// posteriors alone.
func TestChoiceLeavesGoodPosteriorsAlone(t *testing.T) {
	g := &propagation.LabelledGraph{Edges: graphtest.Even(200, 600, 1), Classes: 2}
	draw := lethe.NewDraw(1, "test/classes")
	for range 200 {
		class := draw.IntN(2)
		g.Known = append(g.Known, class)
		g.Posteriors = append(g.Posteriors, 0.9-0.8*float32(class), 0.1+0.8*float32(class))
	}
	choice, err := propagation.Choose(g, propagation.ChoiceDefaults())
	require.NoError(t, err)
	require.Equal(t, "none", choice.Options.String())
	require.Equal(t, []float64{1, 1, 200}, []float64{choice.Measure, choice.Without, float64(choice.Hidden)})
}

// Labels without any pattern cannot be predicted, unless they were not hidden.
func TestChoiceDoesNotSeeWhatItPredicts(t *testing.T) {
	g := &propagation.LabelledGraph{Edges: graphtest.Even(600, 900, 2), Classes: 2}
	draw := lethe.NewDraw(2, "test/noise")
	heldOut := make([]int, 0, 300)
	for i := range 600 {
		g.Known = append(g.Known, draw.IntN(2))
		g.Posteriors = append(g.Posteriors, 0.5, 0.5)
		if i%2 == 0 {
			heldOut = append(heldOut, i)
		}
	}
	for _, hidden := range [][]int{nil, heldOut} {
		opts := propagation.ChoiceDefaults()
		opts.HeldOut = hidden
		choice, err := propagation.Choose(g, opts)
		require.NoError(t, err)
		require.Less(t, choice.Measure, 0.65)
		require.InDelta(t, 0.5, choice.Without, 0.1)
	}
}

func TestChoiceFollowsTheMeasure(t *testing.T) {
	g := &propagation.LabelledGraph{
		Edges: graphtest.Path(40), Classes: 2,
		Known: make([]int, 40), Posteriors: make([]float32, 80),
	}
	for i := range g.Known { // all of class 0, and the model says 1
		g.Posteriors[2*i+1] = 1
	}
	sure := func(sign float32) propagation.Measure {
		return func(posteriors []float32, classes int, _ []int) float64 {
			sum := float32(0)
			for at := 0; at < len(posteriors); at += classes {
				sum += posteriors[at]
			}
			return float64(sign * sum)
		}
	}
	opts := propagation.ChoiceDefaults()
	opts.Folds, opts.Seed, opts.Measure = 4, 3, sure(1)
	towards, err := propagation.Choose(g, opts)
	require.NoError(t, err)
	require.Greater(t, towards.Measure, 39.0)
	require.Zero(t, towards.Without)
	again, err := propagation.Choose(g, opts)
	require.NoError(t, err)
	require.Equal(t, towards, again)
	opts.Measure = sure(-1)
	away, err := propagation.Choose(g, opts)
	require.NoError(t, err)
	require.Equal(t, "none", away.Options.String())
}

func TestChoiceRefuses(t *testing.T) {
	g := &propagation.LabelledGraph{
		Edges: graphtest.Path(3), Classes: 2, Known: []int{0, 1, measures.NoClass}, Posteriors: make([]float32, 6),
	}
	wrong := propagation.Defaults()
	wrong.SmoothAlpha = 2
	for want, change := range map[string]func(*propagation.ChoiceOptions){
		"held-out node 2 has no known label or is listed twice": func(o *propagation.ChoiceOptions) {
			o.HeldOut = []int{0,
				2}
		},
		"held-out node 1 has no known label or is listed twice": func(o *propagation.ChoiceOptions) {
			o.HeldOut = []int{1,
				1}
		},
		"held-out node 3 has no known label or is listed twice": func(o *propagation.ChoiceOptions) { o.HeldOut = []int{3} },
		"no held-out node": func(o *propagation.ChoiceOptions) { o.HeldOut = []int{} },
		"5 folds of 2 known labels, want at least 2 and a label each": func(*propagation.ChoiceOptions) {},
		"candidate 0: smooth_alpha is 2, want more than 0, less than 1": func(o *propagation.ChoiceOptions) {
			o.Folds, o.Candidates = 2, []propagation.Options{wrong}
		},
	} {
		opts := propagation.ChoiceDefaults()
		change(&opts)
		_, err := propagation.Choose(g, opts)
		require.EqualError(t, err, want)
	}
	g.Known[0] = 7
	_, err := propagation.Choose(g, propagation.ChoiceDefaults())
	require.EqualError(t, err, "node 0 has class 7, want 0 to 1, or -1 if unknown")
}

// What was measured before is kept under these names.
func TestOptionsKeepTheirJSON(t *testing.T) {
	for want, steps := range map[string][2]bool{
		`{`:                                    {true, true},
		`{"no_correct":true,`:                  {false, true},
		`{"no_correct":true,"no_smooth":true,`: {false, false},
	} {
		o := propagation.Defaults()
		o.Correct, o.Smooth = steps[0], steps[1]
		text, err := json.Marshal(o)
		require.NoError(t, err)
		require.Equal(t, want+`"correct_alpha":0.85,"correct_steps":10,"residual_scale":"autoscale",`+
			`"residual_factor":1,"smooth_alpha":0.85,"smooth_steps":10}`, string(text))
		var again propagation.Options
		require.NoError(t, json.Unmarshal(text, &again))
		require.Equal(t, o, again)
	}
}
