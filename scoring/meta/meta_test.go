package meta_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/canonical"
	"lethe/internal/fuzzing"
	"lethe/scoring/decision"
	"lethe/scoring/meta"
	"lethe/scoring/stack"
)

func parseRule(t *testing.T, text string) decision.Rule {
	t.Helper()
	rule, err := decision.ParseRule(text)
	require.NoError(t, err)
	return rule
}

// drawRows draws logits of two components, of which the first knows the classes better.
func drawRows(t *rapid.T, least int) stack.Rows {
	r := stack.Rows{Components: 2}
	for i := range rapid.IntRange(least, least+40).Draw(t, "rows") {
		illicit := i%3 == 0
		shift := 0.0
		if illicit {
			shift = 2
		}
		r.Illicit = append(r.Illicit, illicit)
		r.Logits = append(r.Logits, shift+rapid.Float64Range(-2, 2).Draw(t, "first"),
			rapid.Float64Range(-4, 4).Draw(t, "second"))
	}
	return r
}

// What is written is read back, the rows' order does not matter, and probabilities are
// some.
func TestModelIsAFunctionOfTheSetOfRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := drawRows(t, 0)
		m, err := meta.Fit(rows, meta.Defaults())
		require.NoError(t, err)
		m.Timestep, m.Lineage = 7, lethe.Digest{1}
		back, err := meta.Decode(m.Encode())
		require.NoError(t, err)
		require.Equal(t, m.Encode(), back.Encode())

		reversed := stack.Rows{Components: 2}
		for i := len(rows.Illicit) - 1; i >= 0; i-- {
			reversed.Illicit = append(reversed.Illicit, rows.Illicit[i])
			reversed.Logits = append(reversed.Logits, rows.Logits[2*i:2*i+2]...)
		}
		other, err := meta.Fit(reversed, meta.Defaults())
		require.NoError(t, err)
		other.Timestep, other.Lineage = 7, lethe.Digest{1}
		require.Equal(t, m.Encode(), other.Encode())

		p := m.Probabilities([][]float64{{-30, 0, 30}, {1, 1, 1}})
		require.GreaterOrEqual(t, p[0], 0.0)
		require.LessOrEqual(t, p[2], 1.0)
		require.LessOrEqual(t, p[0], p[1])
		require.LessOrEqual(t, p[1], p[2])
		require.Equal(t, p[1], back.Probability([]float64{0, 1}))
	})
}

// A threshold is learnt, or taken from the probabilities of the timestep that is scored.
func TestThresholds(t *testing.T) {
	rows := rapid.Custom(func(t *rapid.T) stack.Rows { return drawRows(t, 90) }).Example(1)
	c := meta.Defaults()
	m, err := meta.Fit(rows, c)
	require.NoError(t, err)
	require.Positive(t, m.Threshold)
	require.Equal(t, m.Threshold, m.ThresholdFor(c.Threshold, []float64{.1, .2, .9}))
	require.Equal(t, len(rows.Illicit), m.Rows)

	if c.Threshold, err = decision.ParseRule("budget:2"); err != nil {
		t.Fatal(err)
	}
	m, err = meta.Fit(rows, c)
	require.NoError(t, err)
	require.InDelta(t, .2, m.ThresholdFor(c.Threshold, []float64{.1, .2, .9}), 0)
	c.Threshold = parseRule(t, "0.75")
	m, err = meta.Fit(stack.Rows{Components: 1}, c)
	require.NoError(t, err)
	require.InDelta(t, .75, m.Threshold, 0)
	require.Zero(t, m.Rows)
}

// Whatever a meta-model depends on is in its lineage.
func TestLineageNamesEverything(t *testing.T) {
	models, window := []lethe.Digest{{1}, {2}}, [][]lethe.Digest{{{3}, {4}}}
	base := meta.Lineage(meta.Defaults(), models, window)
	require.Equal(t, base, meta.Lineage(meta.Defaults(), models, window))
	other := meta.Defaults()
	other.Stack.L2++
	require.NotEqual(t, base, meta.Lineage(other, models, window))
	other = meta.Defaults()
	other.Threshold = parseRule(t, "0.5")
	require.NotEqual(t, base, meta.Lineage(other, models, window))
	require.NotEqual(t, base, meta.Lineage(meta.Defaults(), models[:1], window))
	require.NotEqual(t, base, meta.Lineage(meta.Defaults(), models, [][]lethe.Digest{{{3}}, {{4}}}))
}

func TestConfigurationsOutOfBounds(t *testing.T) {
	c := meta.Defaults()
	require.NoError(t, c.Validate())
	c.Timesteps, c.Stack.L2, c.Calibration.Method = 0, -1, "guess"
	err := c.Validate()
	require.ErrorContains(t, err, "timesteps is 0, want 1 to 100000")
	require.ErrorContains(t, err, "stack.l2 is -1")
	require.ErrorContains(t, err, `calibration.method is "guess"`)
}

func TestForgedModelsAreRefused(t *testing.T) {
	m, err := meta.Fit(stack.Rows{Components: 1}, meta.Defaults())
	require.NoError(t, err)
	for name, forge := range map[string]func(m *meta.Model){
		"a threshold above 1":        func(m *meta.Model) { m.Threshold = 1.5 },
		"more illicit rows than are": func(m *meta.Model) { m.Illicit = 3 },
	} {
		other := *m
		forge(&other)
		_, err := meta.Decode(other.Encode())
		require.ErrorIs(t, err, canonical.ErrCorrupt, name)
	}
}

func FuzzDecode(f *testing.F) {
	m, err := meta.Fit(stack.Rows{Components: 3}, meta.Defaults())
	if err != nil {
		f.Fatal(err)
	}
	fuzzing.Framed(f, func(message []byte) ([]byte, error) {
		m, err := meta.Decode(message)
		if err != nil {
			return nil, err
		}
		return m.Encode(), nil
	}, m.Encode())
}
