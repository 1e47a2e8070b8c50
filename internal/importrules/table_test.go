package importrules

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/internal/realdata"
)

const module = "lethe"

// row is a line of the package table.
type row struct {
	// folders are those of the packages, relative to the module's.
	folders []string
	// may is the last column.
	may string
}

// table is that of docs/packages.md, with the packages that there are and what they import of
// each other, tests aside. Packages are named by their folders, the module's by a
// dot.
type table struct {
	rows    []row
	imports map[string][]string
}

func readTable(t *testing.T) table {
	t.Helper()
	root := realdata.Repository(t)
	content, err := os.ReadFile(filepath.Join(root, "docs", "packages.md"))
	require.NoError(t, err)
	_, section, found := strings.Cut(string(content), "# Packages\n")
	require.True(t, found, "docs/packages.md has no package table")
	section, _, _ = strings.Cut(section, "\n## ")
	out := table{imports: make(map[string][]string)}
	quoted := regexp.MustCompile("`([^`]+)`")
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) != 3 || !strings.HasPrefix(cells[0], "| `") {
			continue
		}
		r := row{may: strings.TrimSpace(strings.TrimSuffix(cells[2], "|"))}
		for _, m := range quoted.FindAllStringSubmatch(cells[0], -1) {
			r.folders = append(r.folders, expand(strings.TrimSuffix(m[1], "/"))...)
		}
		out.rows = append(out.rows, r)
	}
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if name := d.Name(); path != root && (name[0] == '.' || name == "testdata") {
			return filepath.SkipDir
		}
		folder, err := filepath.Rel(root, path)
		require.NoError(t, err)
		out.read(t, path, filepath.ToSlash(folder))
		return nil
	}))
	return out
}

// expand writes out a/{b,c}.
func expand(folder string) []string {
	before, rest, found := strings.Cut(folder, "{")
	if !found {
		return []string{folder}
	}
	var out []string
	for name := range strings.SplitSeq(strings.TrimSuffix(rest, "}"), ",") {
		out = append(out, before+name)
	}
	return out
}

// read notes the imports of a folder's package, if it has one.
func (tb *table) read(t *testing.T, path, folder string) {
	files, err := filepath.Glob(filepath.Join(path, "*.go"))
	require.NoError(t, err)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		found := tb.imports[folder]
		for _, imported := range importsOf(t, file) {
			if imported == module {
				found = append(found, ".")
			} else if below, ours := strings.CutPrefix(imported, module+"/"); ours {
				found = append(found, below)
			}
		}
		slices.Sort(found)
		tb.imports[folder] = slices.Compact(found)
	}
}

// importsOf are the imports of a file.
func importsOf(t *testing.T, file string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	require.NoError(t, err)
	out := make([]string, 0, len(parsed.Imports))
	for _, i := range parsed.Imports {
		imported, err := strconv.Unquote(i.Path.Value)
		require.NoError(t, err)
		out = append(out, imported)
	}
	return out
}

// packages lists those of the rows from one on to before another.
func (tb table) packages(from, to int) []string {
	var out []string
	for folder := range tb.imports {
		if r := tb.rowOf(folder); from <= r && r < to {
			out = append(out, folder)
		}
	}
	slices.Sort(out)
	return out
}

// rowOf is the number of the row that is nearest to a package, or -1.
func (tb table) rowOf(folder string) int {
	nearest, length := -1, 0
	for i, r := range tb.rows {
		for _, f := range r.folders {
			if within(folder, f) && len(f) > length {
				nearest, length = i, len(f)
			}
		}
	}
	return nearest
}

// within reports whether a folder is another one or lies below it.
func within(folder, top string) bool { return folder == top || strings.HasPrefix(folder, top+"/") }

// allowed lists what the packages of a row may import.
func (tb table) allowed(i int) ([]string, error) {
	var out []string
	for _, p := range tb.packages(i, i+1) {
		if !slices.Contains(tb.rows[i].folders, p) {
			out = append(out, p) // below a folder of the row
		}
	}
	for name := range strings.SplitSeq(tb.rows[i].may, ", ") {
		named, err := tb.named(i, name)
		if err != nil {
			return nil, fmt.Errorf("row of %s: %w", tb.rows[i].folders, err)
		}
		out = append(out, named...)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// named lists the packages of one entry of a row's last column.
func (tb table) named(i int, name string) ([]string, error) {
	switch name {
	case "nothing":
		return nil, nil
	case "all above":
		return tb.packages(0, i), nil
	case "root":
		return []string{"."}, nil
	}
	top, all := strings.CutSuffix(name, "/...")
	var out []string
	for folder := range tb.imports {
		if folder == name {
			return []string{name}, nil
		}
		inner := strings.Contains(folder, "/internal/")
		if all && within(folder, top) && !inner || !all && strings.HasSuffix(folder, "/"+name) {
			out = append(out, folder)
		}
	}
	if len(out) == 0 || !all && len(out) > 1 {
		return nil, fmt.Errorf("%q is %d packages %s, want one by its path or a unique end of it", name, len(out), out)
	}
	return out, nil
}
