package scan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// FileHit is a hit in a file.
type FileHit struct {
	// Path is slash-separated and relative to the root; names with a needle are replaced by RedactedName.
	Path string `json:"path"`
	// InName means that the hit is at Offset in the last part of the path.
	InName bool `json:"in_name,omitempty"`
	Hit
}

// RedactedName replaces names with a needle.
const RedactedName = "[redacted]"

// Report is the result of scanning a directory.
type Report struct {
	// Files and Bytes count regular files read to the end.
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"`
	// Hits are ordered by path, then offset, hits in names first.
	Hits []FileHit `json:"hits"`
	// NotRead are symbolic links, sockets and devices; only their names are searched.
	NotRead []string `json:"not_read"`
}

// ScanDir scans every regular file and every name. Files that vanish are skipped; any other failure is an error,
// because unread files are not verified. Errors name no needle.
func (sc *Scanner) ScanDir(ctx context.Context, fsys fs.FS) (Report, error) {
	return sc.ScanDirAt(ctx, fsys, nil, nil)
}

// ScanDirAt is ScanDir at a pace, which may be nil. Clean files are counted and not read.
func (sc *Scanner) ScanDirAt(ctx context.Context, fsys fs.FS, pacer *Pacer, clean Clean) (Report, error) {
	info, err := fs.Stat(fsys, ".")
	if err != nil {
		return Report{}, fmt.Errorf("scan: %w", err)
	}
	if !info.IsDir() {
		return Report{}, errors.New("scan: the root is not a directory")
	}
	pace := pacer.Begin()
	defer pace.End()
	walk := dirWalk{sc: sc, fsys: fsys, pass: sc.newPass(chunkBytes), pace: pace, clean: clean}
	err = walk.dir(ctx, ".", "")
	return walk.report, err
}

// dirWalk is one walk. Paths come twice: real, and as shown.
type dirWalk struct {
	sc     *Scanner
	fsys   fs.FS
	pass   *pass
	pace   *Pace
	clean  Clean
	report Report
}

func (w *dirWalk) dir(ctx context.Context, rel, shown string) error {
	entries, err := fs.ReadDir(w.fsys, rel)
	if err != nil {
		return failure(shown, err)
	}
	for _, entry := range entries {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("scan stopped after %d files: %w", w.report.Files, err)
		}
		at, display := path.Join(rel, entry.Name()), w.name(shown, entry.Name())
		switch {
		case entry.IsDir():
			err = w.dir(ctx, at, display)
		case entry.Type().IsRegular():
			err = w.regular(ctx, entry, at, display)
		default:
			w.report.NotRead = append(w.report.NotRead, display)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// name searches a name and returns the path to show. Dots are searched as spaces too: between digits they would
// count as decimal points.
func (w *dirWalk) name(parent, name string) string {
	hits := slices.Concat(w.sc.ScanBytes([]byte(name)), w.sc.ScanBytes([]byte(strings.ReplaceAll(name, ".", " "))))
	sortHits(hits)
	hits = slices.Compact(hits)
	if len(hits) == 0 {
		return path.Join(parent, name)
	}
	shown := path.Join(parent, RedactedName)
	for _, h := range hits {
		w.report.Hits = append(w.report.Hits, FileHit{Path: shown, InName: true, Hit: h})
	}
	return shown
}

// regular searches a regular file. An empty one is not opened: it may be a store's lock file, and on Unix closing it
// would release the process's lock.
func (w *dirWalk) regular(ctx context.Context, entry fs.DirEntry, rel, shown string) error {
	info, err := entry.Info()
	if err != nil {
		return failure(shown, err)
	}
	if info.Size() == 0 || w.clean.has(rel, info) {
		w.report.Files++
		w.report.Bytes += info.Size()
		return nil
	}
	return w.file(ctx, rel, shown)
}

func (w *dirWalk) file(ctx context.Context, rel, shown string) (err error) {
	f, err := w.fsys.Open(rel)
	if err != nil {
		return failure(shown, err)
	}
	// It was only read.
	defer func() { _ = f.Close() }()
	hits, n, err := w.pass.run(cancellable{ctx, f, w.pace})
	for _, h := range hits {
		w.report.Hits = append(w.report.Hits, FileHit{Path: shown, Hit: h})
	}
	w.report.Bytes += n
	if err != nil {
		return failure(shown, err)
	}
	w.report.Files++
	return nil
}

// failure returns nil for a vanished file. It drops the error's path, which may hold a needle.
func failure(shown string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		err = p.Err
	}
	return fmt.Errorf("scan of %q: %w", shown, err)
}

// cancellable is a paced reader that ends with the context.
type cancellable struct {
	ctx  context.Context
	r    io.Reader
	pace *Pace
}

func (c cancellable) Read(p []byte) (int, error) {
	if err := c.pace.Rest(c.ctx); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// Some is a file system without the files and folders for which keep is false.
func Some(fsys fs.FS, keep func(path string) bool) fs.FS { return some{fsys, keep} }

type some struct {
	fs.FS
	keep func(path string) bool
}

var _ fs.ReadDirFS = some{}

// ReadDir implements fs.ReadDirFS.
func (s some) ReadDir(name string) ([]fs.DirEntry, error) {
	all, err := fs.ReadDir(s.FS, name)
	kept := make([]fs.DirEntry, 0, len(all))
	for _, entry := range all {
		if s.keep(path.Join(name, entry.Name())) {
			kept = append(kept, entry)
		}
	}
	return kept, err
}

// Clean are files, by path, that only grow and were searched by other means.
type Clean map[string]fs.FileInfo

func (c Clean) has(path string, info fs.FileInfo) bool {
	known, found := c[path]
	return found && os.SameFile(known, info) && known.Size() == info.Size()
}
