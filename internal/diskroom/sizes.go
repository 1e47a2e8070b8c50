package diskroom

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// SizesOf returns the bytes of the files below a folder, by the names in it. What vanishes at the same time counts
// nothing.
func SizesOf(dir string) (map[string]int64, error) {
	out := make(map[string]int64)
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path != "." {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			top, _, _ := strings.Cut(filepath.ToSlash(path), "/")
			out[top] += info.Size()
		}
		return err
	})
	return out, err
}

// Sizes keeps what SizesOf has found for a while, for it looks at every file. Any number of goroutines may ask. The
// zero value has found nothing yet.
type Sizes struct {
	mu    sync.Mutex
	until time.Time
	found map[string]int64
}

// keptFor is how long sizes are not measured again.
const keptFor = 10 * time.Second

// Of returns the sizes below a folder, which is always the same, as they were a moment ago; nil if they cannot be
// measured. The result is not to be changed.
func (s *Sizes) Of(dir string, now time.Time) map[string]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !now.Before(s.until) {
		s.until = now.Add(keptFor)
		var err error
		if s.found, err = SizesOf(dir); err != nil {
			s.found = nil
		}
	}
	return s.found
}
