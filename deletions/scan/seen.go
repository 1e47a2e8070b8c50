package scan

import (
	"io/fs"
	"os"
	"time"
)

// Seen are the files that a search has read and found nothing in, so that the next
// search for the same reads what has changed since.
type Seen struct {
	now   func() time.Time
	files map[string]fs.FileInfo
	// growing are files of which bytes are never changed, but more may follow.
	growing map[string]fs.FileInfo
	// began is when the present search began, before is when the last one began.
	began, before time.Time
}

// settled is how long a file must not have changed before it is read, so that it is
// not read again: the times of a file system may be exact to a second only.
const settled = time.Second

// NewSeen returns one that has seen nothing.
func NewSeen(now func() time.Time) *Seen {
	return &Seen{now: now, files: make(map[string]fs.FileInfo), growing: make(map[string]fs.FileInfo)}
}

// begin begins a search. When the clock was set back, the times of files tell nothing of
// what was read before.
func (s *Seen) begin() {
	now := s.now().Round(0)
	if s.before = s.began; now.Before(s.began) {
		s.before = time.Time{}
		clear(s.files)
	}
	s.began = now
}

// NoteGrowing notes that all of a file was looked through and nothing was found,
// otherwise than by a search of its folder. Its bytes are never changed, but more may
// follow them.
func (s *Seen) NoteGrowing(path string, info fs.FileInfo) { s.growing[path] = info }

// unchanged reports whether a file is the one that was read, with the same bytes.
func (s *Seen) unchanged(path string, info fs.FileInfo) bool {
	if known, found := s.growing[path]; found && os.SameFile(known, info) && known.Size() == info.Size() {
		return true
	}
	known, found := s.files[path]
	return found && os.SameFile(known, info) && known.Size() == info.Size() && known.ModTime().Equal(info.ModTime()) &&
		info.ModTime().Before(s.before.Add(-settled))
}

// note takes what the reading of a file has found.
func (s *Seen) note(path string, info fs.FileInfo, hits int) {
	if delete(s.files, path); hits == 0 {
		s.files[path] = info
	}
}
