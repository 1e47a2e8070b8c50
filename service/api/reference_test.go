package api_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/service/api"
)

var rewrite = flag.Bool("rewrite", false, "write the list of addresses in docs/api.md anew")

// The page lists every address as the description has it.
func TestReferenceIsThatOfTheDescription(t *testing.T) {
	const page, mark = "../../docs/api.md", "(`go test ./service/api -run Reference -rewrite`).\n\n"
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	before, have, found := strings.Cut(string(text), mark)
	require.True(t, found)
	if *rewrite {
		require.NoError(t, os.WriteFile(page, []byte(before+mark+reference(t)), 0o644))
		return
	}
	require.Equal(t, reference(t), have, "write it anew with -rewrite")
}

// reference is a table of the routes in the order of their addresses.
func reference(t *testing.T) string {
	var document struct {
		Paths map[string]map[string]struct {
			Summary    string `json:"summary"`
			Parameters []struct {
				Name string `json:"name"`
				In   string `json:"in"`
			} `json:"parameters"`
		} `json:"paths"`
	}
	require.NoError(t, json.Unmarshal(api.Description(), &document))
	var rows []string
	for path, methods := range document.Paths {
		for method, said := range methods {
			var asks []string
			for _, p := range said.Parameters {
				if p.In == "query" {
					asks = append(asks, "`"+p.Name+"`")
				}
			}
			rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | %s |\n", path, strings.ToUpper(method), strings.Join(asks, ", "),
				said.Summary))
		}
	}
	slices.Sort(rows)
	return "| address | method | parameters | |\n|---|---|---|---|\n" + strings.Join(rows, "")
}
