package graphs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/ingest"
	"lethe/internal/realdata"
	"lethe/snapshot"
)

// Dead letters carry the snapshot store's reasons, which has no list of them, as they are.
func TestReasonsOfTheStoreAreKnown(t *testing.T) {
	path := filepath.Join(realdata.Repository(t), "snapshot", "record.go")
	parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	var found []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		constant, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(constant.Names[0].Name, "Reason") {
			return true
		}
		require.Len(t, constant.Values, 1, constant.Names[0].Name)
		reason, err := strconv.Unquote(constant.Values[0].(*ast.BasicLit).Value)
		require.NoError(t, err)
		require.True(t, ingest.Reason(reason).Known(), "%s is %q", constant.Names[0].Name, reason)
		found = append(found, reason)
		return false
	})
	require.Contains(t, found, snapshot.ReasonUnknownTransaction)
	require.Len(t, found, 8)
}
