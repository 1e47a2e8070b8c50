package docrules_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/configs"
)

const root = "../.."

// pages returns every document, by its path from the root.
func pages(t *testing.T) map[string]string {
	t.Helper()
	out := make(map[string]string)
	require.NoError(t, fs.WalkDir(os.DirFS(root), ".", func(at string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (len(at) > 1 && d.Name()[0] == '.' || at == "bin" || d.Name() == "testdata"):
			return fs.SkipDir
		case path.Ext(at) == ".md":
			content, err := os.ReadFile(filepath.Join(root, at))
			out[at] = string(content)
			return err
		}
		return nil
	}))
	require.Contains(t, out, "README.md")
	require.Contains(t, out, "docs/erasure.md")
	return out
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	placed  = regexp.MustCompile(`<a id="([^"]+)"></a>`)
	heading = regexp.MustCompile(`(?m)^#+ +(.+?)\s*$`)
	code    = regexp.MustCompile("`[^`\n]+`")
	fenced  = regexp.MustCompile("(?s)```.*?```")
)

// anchors are those that a renderer makes of a page's headings, and those that the page places itself.
func anchors(page string) (all []string) {
	for _, m := range placed.FindAllStringSubmatch(page, -1) {
		all = append(all, m[1])
	}
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(page, ""), -1) {
		all = append(all, anchorOf(m[1]))
	}
	return all
}

// anchorOf is the anchor that a renderer makes of a heading.
func anchorOf(heading string) string {
	text := strings.ToLower(strings.NewReplacer("`", "", "*", "").Replace(heading))
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == ' ':
			b.WriteRune('-')
		case r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r > 127:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Every link within the project leads to a file that is there, and to a heading of it.
func TestLinksLeadSomewhere(t *testing.T) {
	all, checked := pages(t), 0
	for at, text := range all {
		text = code.ReplaceAllString(fenced.ReplaceAllString(text, ""), "")
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			checked++
			to := at
			if target != "" {
				to = path.Join(path.Dir(at), target)
				_, err := os.Stat(filepath.Join(root, to))
				require.NoError(t, err, "%s links to %s", at, m[1])
			}
			if anchor != "" {
				require.Contains(t, anchors(all[to]), anchor, "%s links to %s", at, m[1])
			}
		}
	}
	require.Greater(t, checked, 50)
}

// Every key of the configuration that a page names is one. A page of decisions and the changelog
// speak of what was.
func TestKeysOfTheConfigurationExist(t *testing.T) {
	keys := configs.Keys()
	sections := make(map[string]bool)
	for _, key := range keys {
		if section, _, nested := strings.Cut(key, "."); nested {
			sections[section] = true
		}
	}
	named, checked := regexp.MustCompile("`([a-z]+)((?:\\.[a-z][a-z0-9_]*)+)(?:[ :=][^`]*)?`"), 0
	for at, text := range pages(t) {
		if strings.HasPrefix(at, "docs/decisions/") || at == "CHANGELOG.md" {
			continue
		}
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			key := m[1] + m[2]
			ofKafka := m[1] == "log" && strings.Count(key, ".") > 1 // log.cleaner.threads of a broker
			ofFile := slices.Contains([]string{".go", ".yaml", ".yml", ".json", ".md", ".v1"}, path.Ext(key))
			if !sections[m[1]] || ofKafka || ofFile {
				continue
			}
			checked++
			within := slices.ContainsFunc(keys, func(k string) bool { return strings.HasPrefix(k, key+".") })
			require.True(t, within || slices.Contains(keys, key), "%s names the key %s", at, key)
		}
	}
	require.Greater(t, checked, 100)
}

// Every metric that a page names is made somewhere in package metrics.
func TestMetricsExist(t *testing.T) {
	made := make(map[string]bool)
	metric := regexp.MustCompile(`lethe_[a-z_]+`)
	files, err := filepath.Glob(filepath.Join(root, "metrics", "*.go"))
	require.NoError(t, err)
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, name := range metric.FindAllString(string(content), -1) {
			made[name] = true
		}
	}
	require.NotEmpty(t, made)
	checked := 0
	for at, text := range pages(t) {
		if strings.HasPrefix(at, "docs/decisions/") || at == "CHANGELOG.md" {
			continue
		}
		for _, span := range code.FindAllString(text, -1) {
			for _, name := range metric.FindAllString(span, -1) {
				checked++
				base := name
				for _, suffix := range []string{"_bucket", "_sum", "_count"} {
					base = strings.TrimSuffix(base, suffix)
				}
				require.True(t, made[name] || made[base], "%s names the metric %s", at, name)
			}
		}
	}
	require.Greater(t, checked, 5)
}
