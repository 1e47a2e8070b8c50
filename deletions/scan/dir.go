package scan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// FileHit is a hit in a file.
type FileHit struct {
	// Path is slash-separated and relative to the root. A part of it that itself
	// holds what was searched for is replaced by RedactedName.
	Path string `json:"path"`
	// InName says that the hit is in the last part of the path, at Offset there.
	InName bool `json:"in_name,omitempty"`
	Hit
}

// RedactedName stands for a file or directory name that holds a needle.
const RedactedName = "[redacted]"

// Report is what a scan of a directory looked at and found.
type Report struct {
	// Files and Bytes count the regular files read to their ends.
	Files int   `json:"files"`
	Bytes int64 `json:"bytes"`
	// Hits are in order of path, then of offset, a hit in a name first.
	Hits []FileHit `json:"hits"`
	// NotRead are the paths of symbolic links, sockets and devices, which are
	// neither followed nor read; their names are searched.
	NotRead []string `json:"not_read"`
}

// ScanDir scans every regular file of a file system, hidden ones included, and the
// name of everything it meets. Files that vanish during the search are skipped,
// as a store that is being rewritten removes files; any other failure to read
// is an error, because what was not read was not verified. No error text holds
// a name that holds a needle.
func (sc *Scanner) ScanDir(ctx context.Context, fsys fs.FS) (Report, error) {
	return sc.ScanDirAt(ctx, fsys, nil, nil)
}

// ScanDirAt is ScanDir at a pace, which may be nil. If seen is not nil, files that it
// has seen unchanged are counted and not read.
func (sc *Scanner) ScanDirAt(ctx context.Context, fsys fs.FS, pacer *Pacer, seen *Seen) (Report, error) {
	info, err := fs.Stat(fsys, ".")
	if err != nil {
		return Report{}, fmt.Errorf("scan: %w", err)
	}
	if !info.IsDir() {
		return Report{}, errors.New("scan: the root is not a directory")
	}
	pace := pacer.Begin()
	defer pace.End()
	walk := dirWalk{sc: sc, fsys: fsys, pass: sc.newPass(chunkBytes), pace: pace, seen: seen}
	if seen != nil {
		seen.begin()
	}
	err = walk.dir(ctx, ".", "")
	return walk.report, err
}

// dirWalk is one walk. Every path comes twice: as it is, and as it may be shown.
type dirWalk struct {
	sc     *Scanner
	fsys   fs.FS
	pass   *pass
	pace   *Pace
	seen   *Seen
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

// name searches one name and returns the path under which it may be shown. A
// name's extension is set off by a dot, which between digits would count as a
// decimal point, so dots are searched as spaces too.
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

// regular searches a regular file. An empty one counts as read but is not
// opened: it may be the lock file of a store, and on Unix closing a file ends
// every lock that the process has on it. A second process could then open the
// store.
func (w *dirWalk) regular(ctx context.Context, entry fs.DirEntry, rel, shown string) error {
	info, err := entry.Info()
	if err != nil {
		return failure(shown, err)
	}
	if info.Size() == 0 {
		w.report.Files++
		return nil
	}
	if w.seen == nil {
		return w.file(ctx, rel, shown)
	}
	if w.seen.unchanged(rel, info) {
		w.report.Files++
		w.report.Bytes += info.Size()
		return nil
	}
	before := len(w.report.Hits)
	if err := w.file(ctx, rel, shown); err != nil {
		return err
	}
	w.seen.note(rel, info, len(w.report.Hits)-before)
	return nil
}

func (w *dirWalk) file(ctx context.Context, rel, shown string) (err error) {
	f, err := w.fsys.Open(rel)
	if err != nil {
		return failure(shown, err)
	}
	// The file was only read: closing it cannot lose anything.
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

// failure is nil for what has vanished. It leaves out the path that the error
// carries, because that one is not fit to be shown.
func failure(shown string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		err = p.Err
	}
	return fmt.Errorf("scan of %q: %w", shown, err)
}

// cancellable reads until the context is done, so that a large file does not
// hold up a stop.
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

// Some shows a part of a file system: the files and folders that keep is true for.
// It is asked about slash-separated paths; what is in a folder that is left out is
// left out too.
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
