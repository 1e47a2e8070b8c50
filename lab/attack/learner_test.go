package attack

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/lab/attack/roc"
	"lethe/trainer/kernels"
)

func testLearners(t testing.TB, seed uint64) map[string]learner {
	t.Helper()
	all, err := learners(seed, kernels.Default())
	require.NoError(t, err)
	out := make(map[string]learner)
	for _, l := range all {
		out[l.name] = l
	}
	return out
}

func TestLogisticFindsTheClosedForm(t *testing.T) {
	// Of 400 samples at +1 three in four are members, of 400 at -1 one in four:
	// the odds are 3 and 1/3, whatever the scale of the entry.
	var samples [][]float64
	var member []bool
	for i := range 800 {
		x := float64(1 - 2*(i%2))
		samples, member = append(samples, []float64{10 * x}), append(member, x > 0 != (i >= 600))
	}
	p, err := testLearners(t, 1)["logistic"].judge(samples, member, [][]float64{{10}, {-10}})
	require.NoError(t, err)
	require.InDeltaSlice(t, []float64{.75, .25}, p, .002)
}

// quadrants draws points whose members have entries of one sign: no line tells
// them apart.
func quadrants(seed uint64, n int) (samples [][]float64, member []bool) {
	d := lethe.NewDraw(seed, "quadrants")
	for range n {
		x, y := d.Normal(), d.Normal()
		samples, member = append(samples, []float64{x, y}), append(member, x*y > 0)
	}
	return samples, member
}

func TestLearnersFindWhatTheirShapeCan(t *testing.T) {
	known, member := quadrants(1, 300)
	asked, truth := quadrants(2, 300)
	for name, bounds := range map[string][2]float64{"logistic": {.4, .6}, "trees": {.9, 1}, "mlp": {.95, 1}} {
		p, err := testLearners(t, 1)[name].judge(known, member, asked)
		require.NoError(t, err)
		e, err := roc.DeLong(p, truth)
		require.NoError(t, err)
		require.GreaterOrEqual(t, e.AUC, bounds[0], name)
		require.LessOrEqual(t, e.AUC, bounds[1], name)
	}
}

func TestTheMLPIsAFunctionOfItsSeed(t *testing.T) {
	known, member := quadrants(1, 60)
	judge := func(seed uint64) []float64 {
		p, err := testLearners(t, seed)["mlp"].judge(known, member, known)
		require.NoError(t, err)
		return p
	}
	require.Equal(t, judge(1), judge(1))
	require.NotEqual(t, judge(1), judge(2))
}

func TestLearnersDoNotMindTheScale(t *testing.T) {
	known, member := quadrants(1, 100)
	// The last entry is the same for all and tells nothing.
	moved := make([][]float64, len(known))
	for i, s := range known {
		moved[i] = []float64{7 + 1e-4*s[0], 1e4*s[1] - 3, 5}
		known[i] = append(s, 0)
	}
	for name, l := range testLearners(t, 1) {
		want, err := l.judge(known, member, known)
		require.NoError(t, err)
		got, err := l.judge(moved, member, moved)
		require.NoError(t, err)
		require.InDeltaSlice(t, want, got, 1e-3, name)
	}
}
