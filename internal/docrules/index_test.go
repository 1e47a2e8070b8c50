package docrules_test

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every page in docs is linked from the index, docs/README.md.
func TestIndexLinksEveryPage(t *testing.T) {
	all := pages(t)
	linked := make(map[string]bool)
	for _, m := range link.FindAllStringSubmatch(all["docs/README.md"], -1) {
		target, _, _ := strings.Cut(m[1], "#")
		linked[path.Join("docs", target)] = true
	}
	checked := 0
	for at := range all {
		if path.Dir(at) == "docs" && at != "docs/README.md" || path.Dir(at) == "docs/quickstart" {
			checked++
			require.True(t, linked[at], "docs/README.md does not link %s", at)
		}
	}
	require.Greater(t, checked, 20)
}

// glossaryRow is a term with its anchor, what it means, and the page with more.
var glossaryRow = regexp.MustCompile(
	`^\| <a id="([a-z0-9-]+)"></a>\*\*([^*]+)\*\* \| [^|]{20,} \| \[[^\]]+\]\([^)]+\) \|$`)

// The glossary explains each term once, in alphabetical order, under an anchor that is the term.
func TestGlossaryIsInOrder(t *testing.T) {
	var terms []string
	for line := range strings.Lines(pages(t)["docs/glossary.md"]) {
		if !strings.HasPrefix(line, "| <a") {
			continue
		}
		m := glossaryRow.FindStringSubmatch(strings.TrimSpace(line))
		require.NotNil(t, m, line)
		anchor := strings.NewReplacer("(", "", ")", "", " ", "-").Replace(strings.ToLower(m[2]))
		require.Equal(t, anchor, m[1])
		terms = append(terms, strings.ToLower(m[2]))
	}
	require.True(t, slices.IsSorted(terms), "not in alphabetical order: %v", terms)
	require.Len(t, slices.Compact(slices.Clone(terms)), len(terms), "a term twice")
	require.Greater(t, len(terms), 80)
}
