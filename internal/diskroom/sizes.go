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

// SizesOf returns the bytes of the files below a folder, by its direct entries. Files that vanish meanwhile are not
// counted.
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

// Sizes caches the result of SizesOf, which reads the metadata of every file. It may be used from any number of
// goroutines. The zero value is an empty cache.
type Sizes struct {
	mu    sync.Mutex
	until time.Time
	found map[string]int64
}

// keptFor is how long sizes are cached.
const keptFor = 10 * time.Second

// Of returns the recent sizes below a folder, or nil if they cannot be measured. dir must be the same in all calls.
// The result must not be changed.
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
