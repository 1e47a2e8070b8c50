package metrics_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
)

const referenceHead = `# Every metric

Made from the code (` + "`go test ./metrics -run Reference -rewrite`" + `). ` + "`lethe run`" + ` answers with them at
` + "`/metrics`" + `, with those of the Go runtime and the process beside them. No label holds anything of a
transaction, a person or a request. A fraction is of 1; times are in seconds.

| metric | type | labels | |
|---|---|---|---|
`

// reference is docs/metrics.md.
func reference(t *testing.T) string {
	t.Helper()
	p := newProcess(t)
	p.everything()
	families, err := prometheus.Gatherers{p.registry}.Gather()
	require.NoError(t, err)
	var out strings.Builder
	out.WriteString(referenceHead)
	for _, family := range families {
		labels := []string{}
		for _, m := range family.GetMetric() {
			for _, l := range m.GetLabel() {
				if !slices.Contains(labels, "`"+l.GetName()+"`") {
					labels = append(labels, "`"+l.GetName()+"`")
				}
			}
		}
		kind := strings.ToLower(family.GetType().String())
		fmt.Fprintf(&out, "| `%s` | %s | %s | %s |\n", family.GetName(), kind, strings.Join(labels, ", "),
			strings.ReplaceAll(family.GetHelp(), "|", `\|`))
	}
	return out.String()
}

// Every metric has its place in the page, which is as the code has it.
func TestReferenceIsThePage(t *testing.T) {
	const page = "../docs/metrics.md"
	want := reference(t)
	if f := flag.Lookup("rewrite"); f.Value.String() == "true" {
		require.NoError(t, os.WriteFile(page, []byte(want), 0o644))
	}
	have, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Equal(t, want, string(have), "make it anew with go test ./metrics -run Reference -rewrite")
}
