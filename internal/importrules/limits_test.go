package importrules

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/internal/realdata"
)

const (
	mostMethods = 25
	mostFiles   = 24
)

// listsOfLikeThings may have more files: one per layer, kernel or command.
func listsOfLikeThings() []string {
	return []string{"trainer/layers", "trainer/kernels", "cmd/lethe", "lab/cmd/lethe-lab"}
}

// What the linter cannot count: no type has more methods than somebody keeps in
// mind, and no package more files.
func TestNothingGrowsTooLarge(t *testing.T) {
	root := realdata.Repository(t)
	methods, files := map[string]int{}, map[string]int{}
	require.NoError(t, fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != "." {
			return errorOrSkip(err)
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, path), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		folder := filepath.Dir(path)
		files[folder]++
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil {
				methods[folder+": "+receiver(f)]++
			}
		}
		return nil
	}))
	require.NotEmpty(t, methods)
	for name, count := range methods {
		require.LessOrEqual(t, count, mostMethods, "methods of %s", name)
	}
	for _, folder := range listsOfLikeThings() {
		require.Contains(t, files, folder)
		delete(files, folder)
	}
	for folder, count := range files {
		require.LessOrEqual(t, count, mostFiles, "files of %s", folder)
	}
}

// errorOrSkip leaves a folder out where nothing went wrong.
func errorOrSkip(err error) error {
	if err != nil {
		return err
	}
	return fs.SkipDir
}

// receiver names the type of a method.
func receiver(f *ast.FuncDecl) string {
	expr := f.Recv.List[0].Type
	for {
		switch e := expr.(type) {
		case *ast.StarExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.IndexListExpr:
			expr = e.X
		case *ast.Ident:
			return e.Name
		default:
			return ""
		}
	}
}
