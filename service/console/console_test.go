package console_test

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/ingest"
	"lethe/service/console"
)

func get(t *testing.T, c *console.Console, path string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost"+path, http.NoBody)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	c.ServeHTTP(w, r)
	return w
}

// addresses are those of all files, by their paths under static.
func addresses(t *testing.T) map[string]string {
	t.Helper()
	out := make(map[string]string)
	require.NoError(t, filepath.WalkDir("static", func(at string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name := strings.TrimPrefix(filepath.ToSlash(at), "static/")
			out[at] = console.Prefix + name
		}
		return err
	}))
	require.NotEmpty(t, out)
	return out
}

func TestThePageIsServed(t *testing.T) {
	c, err := console.New()
	require.NoError(t, err)
	answer := get(t, c, "/")
	require.Equal(t, http.StatusOK, answer.Code)
	require.Contains(t, answer.Header().Get("Content-Type"), "text/html")
	require.NotContains(t, answer.Header().Get("Content-Security-Policy"), "unsafe")
	tag := answer.Header().Get("ETag")
	require.Equal(t, http.StatusNotModified, get(t, c, "/", "If-None-Match", tag).Code)
	require.Equal(t, http.StatusNotFound, get(t, c, "/console/nothing.js").Code)
	require.Equal(t, http.StatusNotFound, get(t, c, "/console/../console.go").Code)
	for path, want := range map[string]bool{
		"/": true, "/console/app.js": true, "/api/v1/alerts": false, "/console": false,
	} {
		require.Equal(t, want, console.IsPublic(path), path)
	}
}

// The pages are small: with everything, compressed, well below half a megabyte.
func TestThePagesAreSmall(t *testing.T) {
	c, err := console.New()
	require.NoError(t, err)
	total := 0
	for _, at := range addresses(t) {
		answer := get(t, c, at, "Accept-Encoding", "gzip")
		require.Equal(t, http.StatusOK, answer.Code, at)
		require.Equal(t, "gzip", answer.Header().Get("Content-Encoding"))
		total += answer.Body.Len()
	}
	require.Less(t, total, 120_000)
	t.Logf("%d bytes compressed", total)
}

// Nothing is asked of anybody else, no script stands in a page, and no text becomes HTML.
func TestThePagesAskNobodyElse(t *testing.T) {
	elsewhere := regexp.MustCompile(`(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}`)
	inline := regexp.MustCompile(`<script(?:>|[^>]*[^c]>)|<style|\son[a-z]+="|javascript:|innerHTML|eval\(|new Function`)
	for file, at := range addresses(t) {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		if strings.Contains(at, "/vendor/") {
			continue
		}
		text := strings.ReplaceAll(string(content), "http://www.w3.org/2000/svg", "") // a name, not an address
		require.Empty(t, elsewhere.FindString(text), file)
		if found := inline.FindString(string(content)); found != "" {
			require.Contains(t, found, "src=", file)
		}
	}
}

// Every module that a module asks for is there.
func TestModulesAreThere(t *testing.T) {
	asked := regexp.MustCompile(`(?:from\s*|import\s*)["'](\./[^"']+|\.\./[^"']+)["']`)
	checked := 0
	for file := range addresses(t) {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range asked.FindAllStringSubmatch(string(content), -1) {
			checked++
			_, err := os.Stat(filepath.Join(filepath.Dir(file), m[1]))
			require.NoError(t, err, "%s asks for %s", file, m[1])
		}
	}
	require.Greater(t, checked, 10)
}

// Every reason for which lethe refuses records is explained.
func TestRefusalsAreExplained(t *testing.T) {
	content, err := os.ReadFile("static/refusals.js")
	require.NoError(t, err)
	var explained []ingest.Reason
	for _, m := range regexp.MustCompile(`(?m)^  ([a-z_]+): `).FindAllStringSubmatch(string(content), -1) {
		explained = append(explained, ingest.Reason(m[1]))
	}
	require.ElementsMatch(t, ingest.Reasons(), explained)
}
