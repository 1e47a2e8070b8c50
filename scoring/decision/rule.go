package decision

import (
	"strconv"
	"strings"

	"lethe/internal/check"
)

// kind is the type of a rule.
type kind uint8

const (
	fixed kind = iota
	auto
	precision
	budget
)

const (
	// maxBudget bounds the alerts of a timestep.
	maxBudget = 1_000_000
	// forms lists the valid rules.
	forms = "auto, precision:p, budget:n or a number from 0 to 1"
)

// Rule defines how the threshold is chosen. Rules can be compared with ==. The zero value is the
// fixed threshold 0; use ParseRule for others.
type Rule struct {
	kind kind
	// value is the threshold, the precision or the number of alerts.
	value float64
}

// Auto is the rule auto.
func Auto() Rule { return Rule{kind: auto} }

// ParseRule parses a rule; spaces around its words are ignored.
//
//   - auto: the threshold with the best F1 of the illicit class
//   - precision:p, 0 < p ≤ 1: the lowest threshold with at least this precision
//   - budget:n, 1 ≤ n ≤ 1000000: alerts for the n most probable of a timestep
//   - a number from 0 to 1: that threshold
//
// The error is of package check and names the value and the valid forms, under the key "threshold".
func ParseRule(text string) (Rule, error) {
	name, argument, split := strings.Cut(text, ":")
	name, argument = strings.TrimSpace(name), strings.TrimSpace(argument)
	switch {
	case split && name == "precision":
		return parsePrecision(text, argument)
	case split && name == "budget":
		return parseBudget(text, argument)
	case !split && name == "auto":
		return Rule{kind: auto}, nil
	case !split:
		return parseNumber(text, name)
	default:
		return refuse(text, forms)
	}
}

func parsePrecision(text, argument string) (Rule, error) {
	v, err := strconv.ParseFloat(argument, 64)
	if err != nil || !(v > 0 && v <= 1) {
		return refuse(text, "precision:p with p more than 0, at most 1")
	}
	return Rule{precision, v}, nil
}

func parseBudget(text, argument string) (Rule, error) {
	n, err := strconv.Atoi(argument)
	if err != nil || n < 1 || n > maxBudget {
		return refuse(text, "budget:n with n a whole number from 1 to 1000000")
	}
	return Rule{budget, float64(n)}, nil
}

func parseNumber(text, number string) (Rule, error) {
	v, err := strconv.ParseFloat(number, 64)
	switch {
	case err != nil:
		return refuse(text, forms)
	case !(v >= 0 && v <= 1):
		return refuse(text, "a number from 0 to 1")
	default:
		// +0 and -0 are the same rule.
		return Rule{fixed, max(v, 0)}, nil
	}
}

func refuse(text, want string) (Rule, error) {
	var p check.Problems
	p.Bad("threshold", text, "%s", want)
	return Rule{}, p.Err()
}

// String returns the rule in the form that ParseRule accepts.
func (r Rule) String() string {
	value := strconv.FormatFloat(r.value, 'f', -1, 64)
	switch r.kind {
	case auto:
		return "auto"
	case precision:
		return "precision:" + value
	case budget:
		return "budget:" + value
	default:
		return value
	}
}

// PerTimestep reports whether the threshold is chosen for each scored timestep from its
// probabilities, as for a budget, instead of from labelled transactions.
func (r Rule) PerTimestep() bool { return r.kind == budget }

// Learnt reports whether the threshold is chosen from labelled transactions.
func (r Rule) Learnt() bool { return r.kind == auto || r.kind == precision }

// MarshalText returns the same as String.
func (r Rule) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText is ParseRule.
func (r *Rule) UnmarshalText(text []byte) (err error) {
	*r, err = ParseRule(string(text))
	return err
}
