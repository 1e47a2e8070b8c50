package scan_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	_ "github.com/cockroachdb/datadriven" // for its flag -rewrite
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions/scan"
	"lethe/internal/realdata"
)

// An id that is a word is found where a record names it, and not where the word stands
// in a record of somebody else.
func TestAnIDThatIsAWord(t *testing.T) {
	for _, id := range []lethe.TransactionID{
		"illicit", "close", "label", "licit", "transaction", "settle", "payment", "unknown", "verified",
		"request_id", "erasure-status.v1", "1", "17",
	} {
		sc := idScanner(t, id)
		say := func(format string) []byte { return fmt.Appendf(nil, format, id) }
		for _, names := range []string{
			`{"type":"transaction","id":"%s","timestep":1,"features":[1]}`, `{"transaction" : "%s"}`,
			`{"type":"payment","source":"a","target":"%s"}`, `{"nodes":["x","%s"]}`, `{"type":"label","id" :"%s","la`,
		} {
			require.NotEmpty(t, sc.MatchRecord([]byte("k"), say(names)), names, id)
		}
		require.NotEmpty(t, sc.MatchRecord(say("%s"), nil))
		require.NotEmpty(t, sc.MatchRecord(say("a>%s"), nil))
		for _, others := range []string{
			`{"type":"%s","id":"x","timestep":1}`, `{"type":"label","id":"x","label":"%s"}`, `{"features":["%s","2"]}`,
			`{"type":"label","id":"x","la`, `{"scope":"%s"}`,
		} {
			require.Empty(t, sc.MatchRecord([]byte("k"), say(others)), others, id)
		}
		require.Empty(t, sc.MatchRecord([]byte("!settle/4/0"), []byte(`{"type":"settle","timestep":4}`)))
	}
	require.Equal(t, []scan.Kind{scan.KindID}, scan.NotSearched("illicit"))
	require.Equal(t, []scan.Kind{scan.KindIDFramed, scan.KindIDQuoted}, scan.NotSearched("close"))
	for _, id := range []lethe.TransactionID{"1", "transaction-1", "12345678", "alice", "late-a"} {
		require.Empty(t, scan.NotSearched(id), id)
	}
}

// writers are the folders whose packages write records and files that are searched.
func writers() []string {
	return []string{
		"canonical", "configs", "deletions", "ingest", "internal/kms", "internal/swapstore", "partition", "pipeline",
		"scoring", "snapshot", "trainer",
	}
}

// An id that is a word of lethe's own texts would be found in records and files of everybody, and its request never
// verified.
func TestOwnWords_EveryTextThatMayBeWritten_IsListed(t *testing.T) {
	found := make(map[string]bool)
	root := realdata.Repository(t)
	files, err := filepath.Glob(filepath.Join(root, "*.go"))
	require.NoError(t, err)
	for _, folder := range writers() {
		require.NoError(t, filepath.WalkDir(filepath.Join(root, folder), func(path string, e fs.DirEntry, err error) error {
			if err == nil && filepath.Ext(path) == ".go" && !strings.Contains(path, "/asm/") {
				files = append(files, path)
			}
			return err
		}))
	}
	for _, path := range files {
		if !strings.HasSuffix(path, "_test.go") {
			wordsIn(t, path, found)
		}
	}
	var missing []string
	for word := range found {
		if !scan.IsListed(word) {
			missing = append(missing, word)
		}
	}
	if flag.Lookup("rewrite").Value.String() == "true" {
		listWords(t, found)
		return
	}
	slices.Sort(missing)
	require.Empty(t, missing, "list them with go test ./deletions/scan -run OwnWords -rewrite")
}

// wordsIn collects the words of a file's texts that may be written, which errors and lines of the log are not.
func wordsIn(t *testing.T, path string, found map[string]bool) {
	word := regexp.MustCompile(`[0-9A-Za-z]+`)
	add := func(text string) {
		for _, w := range word.FindAllString(text, -1) {
			if w = strings.ToLower(w); len(w) >= 3 && strings.ContainsFunc(w, func(r rune) bool { return r >= 'a' }) {
				found[w] = true
			}
		}
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.CallExpr:
			called, is := n.Fun.(*ast.SelectorExpr)
			said := []string{"Errorf", "Debug", "Info", "Warn", "Error", "Bad", "That", "Check", "Usagef"}
			return !is || !slices.Contains(said, called.Sel.Name) && fmt.Sprint(called.X, called.Sel) != "errors New"
		case *ast.Field:
			if n.Tag != nil {
				tag, err := strconv.Unquote(n.Tag.Value)
				require.NoError(t, err)
				add(reflect.StructTag(tag).Get("json") + " " + reflect.StructTag(tag).Get("yaml"))
				return false
			}
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
				add(text)
			}
		}
		return true
	})
}

// listWords writes ownWords anew.
func listWords(t *testing.T, found map[string]bool) {
	list := strings.Join(slices.Sorted(maps.Keys(found)), "\n")
	head := "# Words of the texts that lethe may write: go test ./deletions/scan -run OwnWords -rewrite\n"
	require.NoError(t, os.WriteFile("ownwords.txt", []byte(head+list+"\n"), 0o600))
}
