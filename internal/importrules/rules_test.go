package importrules

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/cockroachdb/datadriven" // for its flag -rewrite
	"github.com/stretchr/testify/require"

	"lethe/internal/realdata"
)

// Every package has a row, every row that names Go code has a package, and
// nothing is imported that the table does not allow.
func TestImportsAreThoseOfTheTable(t *testing.T) {
	tb := readTable(t)
	for folder, imports := range tb.imports {
		i := tb.rowOf(folder)
		require.NotEqual(t, -1, i, "%s is in no row of DESIGN.md's package table", folder)
		allowed, err := tb.allowed(i)
		require.NoError(t, err)
		for _, p := range imports {
			require.Contains(t, allowed, p, "%s imports %s, which DESIGN.md's package table does not allow", folder, p)
		}
	}
	root := realdata.Repository(t)
	for _, r := range tb.rows {
		for _, folder := range r.folders {
			require.DirExists(t, filepath.Join(root, folder), "the package table has a folder that is not there")
		}
	}
}

const (
	rulesBegin = "        # begin: made of DESIGN.md's package table by internal/importrules\n"
	rulesEnd   = "        # end of what is made of the package table\n"
)

// The linter holds the packages to the same table.
func TestLinterHasTheRulesOfTheTable(t *testing.T) {
	path := filepath.Join(realdata.Repository(t), ".golangci.yml")
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(content), rulesBegin)
	require.True(t, found, "%s has no line %q", path, rulesBegin)
	rules, after, found := strings.Cut(rest, rulesEnd)
	require.True(t, found, "%s has no line %q", path, rulesEnd)
	want := rulesOf(t, readTable(t))
	if f := flag.Lookup("rewrite"); f.Value.String() == "true" {
		require.NoError(t, os.WriteFile(path, []byte(before+rulesBegin+want+rulesEnd+after), 0o644))
		return
	}
	require.True(t, want == rules, "the linter's rules are not those of DESIGN.md's package table: "+
		"make them anew with go test ./internal/importrules -rewrite")
}

// rulesOf writes depguard's rules, one per row with Go code.
func rulesOf(t *testing.T, tb table) string {
	var out strings.Builder
	for i, r := range tb.rows {
		packages := tb.packages(i, i+1)
		if len(packages) == 0 {
			continue
		}
		allowed, err := tb.allowed(i)
		require.NoError(t, err)
		files := make([]string, 0, len(packages)+1)
		for _, p := range packages {
			files = append(files, fmt.Sprintf("%q", "${config-path}/"+strings.TrimPrefix(p+"/", "./")+"*.go"))
		}
		name := strings.ReplaceAll(strings.Join(r.folders, "+"), "/", "-")
		if name == "." {
			name = "root"
		}
		fmt.Fprintf(&out, "        row-%s:\n          list-mode: lax\n", name)
		list(&out, "files", append(files, `"!$test"`))
		if slices.Contains(strings.Split(r.may, ", "), "all above") {
			// What is not allowed is the shorter list.
			var denied []string
			for p := range tb.imports {
				if !slices.Contains(allowed, p) {
					denied = append(denied, "{pkg: "+exactly(p)+"}")
				}
			}
			slices.Sort(denied)
			list(&out, "deny", denied)
			continue
		}
		for k, p := range allowed {
			allowed[k] = exactly(p)
		}
		if len(allowed) > 0 {
			list(&out, "allow", allowed)
		}
		list(&out, "deny", []string{"{pkg: " + module + "}"})
	}
	return out.String()
}

// exactly is a package without those below it, as depguard has it.
func exactly(folder string) string {
	if folder == "." {
		return module + "$"
	}
	return module + "/" + folder + "$"
}

// list writes a list of YAML in lines of at most 120 characters.
func list(out *strings.Builder, key string, entries []string) {
	line := "          " + key + ": ["
	for i, entry := range entries {
		separator := ", "
		if i == len(entries)-1 {
			separator = "]"
		}
		if len(line)+len(entry)+len(separator) > 120 {
			out.WriteString(strings.TrimRight(line, " ") + "\n")
			line = "            "
		}
		line += entry + separator
	}
	out.WriteString(line + "\n")
}
