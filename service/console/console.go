package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
)

//go:embed static
var files embed.FS

// Prefix begins the paths of everything except the page itself, which is at /.
const Prefix = "/console/"

const (
	folder = "static"
	page   = "index.html"
)

// policy lets pages load only content of the binary and connect only to this process: no inline scripts, and no
// evaluation of text as code.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// file is a prepared response.
type file struct {
	kind, tag string
	plain     []byte
	// zipped compresses plain at the first call: most processes serve no pages.
	zipped func() []byte
}

// Console serves the files.
type Console struct{ files map[string]file }

// New prepares the files. The error means that the type of a file is unknown.
func New() (*Console, error) {
	c := &Console{files: make(map[string]file)}
	return c, fs.WalkDir(files, folder, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := files.ReadFile(at)
		if err != nil {
			return err
		}
		f, err := prepared(at, content)
		c.files[strings.TrimPrefix(at, folder+"/")] = f
		return err
	})
}

func prepared(name string, content []byte) (f file, err error) {
	kinds := map[string]string{
		".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
		".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8",
	}
	kind, known := kinds[path.Ext(name)]
	if !known {
		return f, fmt.Errorf("console: %s is of no known type", name)
	}
	sum := sha256.Sum256(content)
	f = file{kind: kind, tag: `"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`, plain: content}
	f.zipped = sync.OnceValue(func() []byte { return zip(content) })
	return f, nil
}

// zip compresses as far as gzip can.
func zip(content []byte) []byte {
	var out bytes.Buffer
	w, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // the level is a valid one
	w.Write(content)                                        //nolint:errcheck // a buffer does not fail
	w.Close()                                               //nolint:errcheck // a buffer does not fail
	return out.Bytes()
}

// IsPublic reports whether a path is one of the console's files, which need no token.
func IsPublic(at string) bool { return at == "/" || strings.HasPrefix(at, Prefix) }

// ServeHTTP implements http.Handler.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, Prefix)
	if r.URL.Path == "/" {
		name = page
	}
	f, known := c.files[name]
	if !known {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("Cache-Control", "no-cache")
	h.Set("Vary", "Accept-Encoding")
	h.Set("ETag", f.tag)
	if strings.Contains(r.Header.Get("If-None-Match"), f.tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", f.kind)
	content := f.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		content = f.zipped()
	}
	w.Write(content) //nolint:errcheck // the caller went away
}
