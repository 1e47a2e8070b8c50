package events_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/metrics/events"
)

func TestTeePassesEveryEventOnInOrder(t *testing.T) {
	var log []string
	note := func(mark string) events.Listener {
		return events.On(func(e events.RecordsMissed) { log = append(log, e.Reason+mark) })
	}
	both := events.Tee(note(" first"), nil, note(" second"))
	both(events.RecordsMissed{Reason: "lost"})
	both(events.DiskChanged{})
	require.Equal(t, []string{"lost first", "lost second"}, log)
	events.Tee()(events.DiskChanged{})
}

// Events may end up anywhere, so their types cannot hold an id or a feature.
func TestEventsCarryNoPersonalData(t *testing.T) {
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	fields := 0
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), ".go") || strings.HasSuffix(entry.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), entry.Name(), nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			event, is := n.(*ast.TypeSpec)
			if !is || event.Name.Name == "Sampler" { // which is no event
				return true
			}
			of, is := event.Type.(*ast.StructType)
			if !is {
				return true
			}
			for _, f := range of.Fields.List {
				fields++
				require.NotRegexp(t, `TransactionID|Pseudonym|ErasureRequest|lethe\.Transaction|Secret`,
					types.ExprString(f.Type), event.Name)
				for _, name := range f.Names {
					require.NotRegexp(t, `(?i)request_?id|features?$|subject|node|payload|value`, name.Name, event.Name)
				}
			}
			return true
		})
	}
	require.Greater(t, fields, 40)
}
