package decision

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe/internal/check"
)

func TestParseRule(t *testing.T) {
	for text, want := range map[string]string{
		"auto": "auto", " auto ": "auto",
		"precision:0.9": "precision:0.9", "precision: 0.9": "precision:0.9", "precision :1": "precision:1",
		"budget:50": "budget:50", "budget: 1000000": "budget:1000000",
		"0.5": "0.5", "0": "0", "-0": "0", " 1 ": "1", "5e-1": "0.5",
	} {
		rule, err := ParseRule(text)
		require.NoError(t, err, text)
		require.Equal(t, want, rule.String())
		again, err := ParseRule(rule.String())
		require.NoError(t, err)
		require.Equal(t, rule, again)
		require.Equal(t, want[0] == 'b', rule.PerTimestep())
	}
}

func TestParseRuleRefuses(t *testing.T) {
	const forms = "auto, precision:p, budget:n or a number from 0 to 1"
	for text, want := range map[string]string{
		"":               forms,
		"best":           forms,
		"auto:1":         forms,
		"recall:0.5":     forms,
		"1.5":            "a number from 0 to 1",
		"-0.1":           "a number from 0 to 1",
		"nan":            "a number from 0 to 1",
		"precision":      forms,
		"precision:":     "precision:p with p more than 0, at most 1",
		"precision:0":    "precision:p with p more than 0, at most 1",
		"precision:nan":  "precision:p with p more than 0, at most 1",
		"precision:90":   "precision:p with p more than 0, at most 1",
		"budget:0":       "budget:n with n a whole number from 1 to 1000000",
		"budget:2.5":     "budget:n with n a whole number from 1 to 1000000",
		"budget:1000001": "budget:n with n a whole number from 1 to 1000000",
	} {
		_, err := ParseRule(text)
		require.EqualError(t, err, `threshold is "`+text+`", want `+want)
		require.True(t, check.Of(err).Has("threshold"))
	}
}

func TestEveryRuleIsReadAsItIsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rule := rapid.OneOf(
			rapid.Just(Rule{kind: auto}),
			rapid.Custom(func(t *rapid.T) Rule { return Rule{fixed, rapid.Float64Range(0, 1).Draw(t, "threshold")} }),
			rapid.Custom(func(t *rapid.T) Rule {
				return Rule{precision, rapid.Float64Range(1e-300, 1).Draw(t, "precision")}
			}),
			rapid.Custom(func(t *rapid.T) Rule { return Rule{budget, float64(rapid.IntRange(1, maxBudget).Draw(t, "n"))} }),
		).Draw(t, "rule")
		again, err := ParseRule(rule.String())
		require.NoError(t, err)
		require.Equal(t, rule, again)
	})
}
