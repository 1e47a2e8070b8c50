package docrules_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	faultRow = regexp.MustCompile(`(?m)^\| ([SKZ][0-9]+) `)
	// heldBy are a package and the tests of it that a row names.
	heldBy   = regexp.MustCompile("`([a-z/]+)` (Test[A-Za-z0-9_]+(?:, Test[A-Za-z0-9_]+)*)")
	anyTest  = regexp.MustCompile(`Test[A-Z][A-Za-z0-9_]+`)
	numbered = map[string]int{"S": 8, "K": 11, "Z": 19}
)

// Every fault that was found is in the table, each row of which names tests, and the tests are there.
func TestFaultsAreHeldByTests(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "faults.md"))
	require.NoError(t, err)
	rows := make(map[string]int)
	for _, m := range faultRow.FindAllStringSubmatch(string(text), -1) {
		rows[m[1][:1]]++
	}
	require.Equal(t, numbered, rows)
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| | what") {
			continue
		}
		named := 0
		for _, m := range heldBy.FindAllStringSubmatch(line, -1) {
			var source bytes.Buffer
			files, err := filepath.Glob(filepath.Join(root, m[1], "*_test.go"))
			require.NoError(t, err)
			for _, file := range files {
				content, err := os.ReadFile(file)
				require.NoError(t, err)
				source.Write(content)
			}
			for _, test := range strings.Split(m[2], ", ") {
				require.True(t, bytes.Contains(source.Bytes(), []byte("func "+test+"(t *testing.T)")), "%s has no %s", m[1], test)
				named++
			}
		}
		require.Positive(t, named, line)
		require.Len(t, anyTest.FindAllString(line, -1), named, "a test without its package: %s", line)
	}
}
