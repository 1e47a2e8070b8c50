package metrics_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// used is what an expression asks of the metrics.
type used struct{ metrics, labels []string }

// What is left of an expression after each of these was cut out in turn is
// functions, operators, numbers and names of metrics.
//
// This is not a parser of PromQL. It knows the subset that the dashboard and
// the rules are written in, and an expression outside of it leaves a name that
// no metric has, which fails the test.
var (
	quotedText  = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	matcherList = regexp.MustCompile(`\{([^}]*)\}`)
	labelList   = regexp.MustCompile(`\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)`)
	rangeOrStep = regexp.MustCompile(`\[[^\]]*\]`)
	nameOrCall  = regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]*\s*\(?`)
	identifier  = regexp.MustCompile(`[a-zA-Z_][a-zA-Z0-9_]*`)
)

func usedBy(expression string) used {
	var u used
	cut := func(from *regexp.Regexp) {
		expression = from.ReplaceAllStringFunc(expression, func(found string) string {
			if groups := from.FindStringSubmatch(found); len(groups) > 1 {
				u.labels = append(u.labels, identifier.FindAllString(groups[1], -1)...)
			}
			return " "
		})
	}
	cut(quotedText)
	cut(matcherList)
	cut(labelList)
	cut(rangeOrStep)
	words := []string{"and", "or", "unless", "bool", "offset", "inf", "nan"}
	for _, name := range nameOrCall.FindAllString(expression, -1) {
		if strings.HasSuffix(name, "(") || slices.Contains(words, strings.TrimSpace(name)) {
			continue
		}
		// A number such as 1e3 has a letter too, but no name begins in it:
		// RE2 finds "e3", which no metric is called, so write 1000.
		u.metrics = append(u.metrics, strings.TrimSpace(name))
	}
	return u
}

func TestUsedBy(t *testing.T) {
	for expression, want := range map[string]used{
		`lethe_x`: {metrics: []string{"lethe_x"}},
		`sum by (topic, result) (rate(lethe_a_total{topic="b by (c)",job=~"l.+"}[$__rate_interval])) > 0`: {
			[]string{"lethe_a_total"}, []string{"topic", "job", "topic", "result"},
		},
		`time() - max by (stage) (lethe_last > 0)`:                         {[]string{"lethe_last"}, []string{"stage"}},
		`a{x="\"}"} and on (y) b[5m:1m] or c`:                              {[]string{"a", "b", "c"}, []string{"x", "y"}},
		`histogram_quantile(0.95, sum by (le) (rate(lethe_s_bucket[5m])))`: {[]string{"lethe_s_bucket"}, []string{"le"}},
	} {
		got := usedBy(expression)
		slices.Sort(got.labels)
		slices.Sort(want.labels)
		require.Equal(t, want, got, expression)
	}
}
