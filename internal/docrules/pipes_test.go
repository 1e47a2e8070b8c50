package docrules_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	// endsEarly finds a command that may end before it has read all of what is piped into it.
	endsEarly = regexp.MustCompile(`\|\s*(head\b|grep\s+(-\w+\s+)*-\w*[qm]|sed\b[^|]*\dq\b)`)
	// asksAgain is a line that asks until the answer is yes: a pipe that failed once does no harm there.
	asksAgain = regexp.MustCompile(`(^|[\s;])until `)
)

// Whoever writes into a pipe of which the reader has ended fails, or not, by how fast each is: under pipefail, so does
// the line. Scripts, and pages of which CI runs every line, write to a file or read to the end.
func TestPipesAreReadToTheirEnd(t *testing.T) {
	var files []string
	for _, pattern := range []string{
		"docs/quickstart/*.md", ".ci/*", "deploy/*/*.sh", "integration/*/*.sh", "integration/*/testdata/*.sh",
	} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		files = append(files, found...)
	}
	checked := 0
	for _, file := range files {
		if info, err := os.Stat(file); err != nil || info.IsDir() {
			continue
		}
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		page := filepath.Ext(file) == ".md"
		if !page && !strings.Contains(string(content), "pipefail") {
			continue
		}
		checked++
		for n, line := range strings.Split(string(content), "\n") {
			if page && !strings.HasPrefix(line, "    ") || asksAgain.MatchString(line) {
				continue
			}
			require.False(t, endsEarly.MatchString(line), "%s:%d ends a pipe early: %s", file, n+1, line)
		}
	}
	require.Greater(t, checked, 12)
}
