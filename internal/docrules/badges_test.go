package docrules_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, path))
	require.NoError(t, err)
	return string(content)
}

// Each badge of the README states a fact that another file has.
func TestBadgesAreTrue(t *testing.T) {
	find := func(pattern, path string) string {
		return regexp.MustCompile(pattern).FindStringSubmatch(read(t, path))[1]
	}
	badge := regexp.MustCompile(`!\[([^\]]+)\]\(docs/img/badge-([a-z]+)\.svg\)`)
	badges := badge.FindAllStringSubmatch(read(t, "README.md"), -1)
	facts := map[string]string{
		"go":      "Go: " + find(`(?m)^go (\d+\.\d+)`, "go.mod"),
		"licence": "licence: Apache-" + find(`Apache License\s+Version (\d\.\d)`, "LICENSE"),
		"kafka":   "Kafka: " + find(`Apache Kafka (\d\.\d or later)`, "docs/kafka.md"),
	}
	require.Len(t, badges, len(facts))
	for _, badge := range badges {
		title := regexp.MustCompile(`<title>(.+)</title>`).FindStringSubmatch(read(t, "docs/img/badge-"+badge[2]+".svg"))[1]
		require.Equal(t, facts[badge[2]], title)
		require.Equal(t, words(title), words(badge[1]), "the text beside the badge")
	}
}

// words is a text without its case and its colon.
func words(text string) string {
	return regexp.MustCompile(`(?i)[^a-z0-9. -]`).ReplaceAllString(strings.ToLower(text), "")
}

// A README that grows loses the ten minutes that its reader has.
func TestReadmeIsShort(t *testing.T) {
	lines := regexp.MustCompile(`\n`).FindAllString(read(t, "README.md"), -1)
	require.LessOrEqual(t, len(lines), 120)
}
