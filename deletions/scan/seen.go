package scan

import (
	"io/fs"
	"os"
	"time"
)

// Seen remembers clean files, so that the next search reads changed ones only.
type Seen struct {
	now   func() time.Time
	files map[string]fs.FileInfo
	// growing are files that only grow.
	growing map[string]fs.FileInfo
	// began and before are the starts of this and the last search.
	began, before time.Time
}

// settled is the minimal age of a change for a file to count as unchanged later: file times may be exact to a
// second.
const settled = time.Second

// NewSeen returns an empty Seen.
func NewSeen(now func() time.Time) *Seen {
	return &Seen{now: now, files: make(map[string]fs.FileInfo), growing: make(map[string]fs.FileInfo)}
}

// begin begins a search. If the clock was set back, nothing is known.
func (s *Seen) begin() {
	now := s.now().Round(0)
	if s.before = s.began; now.Before(s.began) {
		s.before = time.Time{}
		clear(s.files)
	}
	s.began = now
}

// NoteGrowing records that a file that only grows was found clean otherwise.
func (s *Seen) NoteGrowing(path string, info fs.FileInfo) { s.growing[path] = info }

func (s *Seen) unchanged(path string, info fs.FileInfo) bool {
	if known, found := s.growing[path]; found && os.SameFile(known, info) && known.Size() == info.Size() {
		return true
	}
	known, found := s.files[path]
	return found && os.SameFile(known, info) && known.Size() == info.Size() && known.ModTime().Equal(info.ModTime()) &&
		info.ModTime().Before(s.before.Add(-settled))
}

func (s *Seen) note(path string, info fs.FileInfo, hits int) {
	if delete(s.files, path); hits == 0 {
		s.files[path] = info
	}
}
