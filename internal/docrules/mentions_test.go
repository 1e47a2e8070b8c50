package docrules_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mention is a page in a message or a comment, with the heading that follows a comma or an anchor.
var mention = regexp.MustCompile(`\b(docs/[\w/-]+\.md)(?:#([\w-]+)|, ([A-Z].*))?`)

// A message that names a page, or a heading of it, leads its reader there.
func TestPagesNamedInCodeExist(t *testing.T) {
	all, checked := pages(t), 0
	require.NoError(t, filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(at) != ".go" {
			return err
		}
		content, err := os.ReadFile(at)
		for _, m := range mention.FindAllStringSubmatch(string(content), -1) {
			checked++
			require.Contains(t, all, m[1], "%s names %s", at, m[0])
			require.True(t, leads(all[m[1]], m[2], m[3]), "%s names %s", at, m[0])
		}
		return err
	}))
	require.Greater(t, checked, 10)
}

// leads reports whether a page has an anchor, or a heading that a text begins with.
func leads(page, anchor, text string) bool {
	if text == "" {
		return anchor == "" || slices.Contains(anchors(page), anchor)
	}
	return slices.ContainsFunc(anchors(placed.ReplaceAllString(page, "")), func(heading string) bool {
		return strings.HasPrefix(anchorOf(text), heading)
	})
}
