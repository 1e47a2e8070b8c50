// Package unlinked takes the content from files that have lost their name: as long as
// somebody holds such a file open, a backup for example, its bytes stay on disk where
// no search of folders finds them.
package unlinked

import "golang.org/x/sys/unix"

// Cut cuts an open file to nothing, unless it still has a name, which then is that of a
// copy that somebody made with intent.
func Cut(fd uintptr) error {
	var s unix.Stat_t
	if err := unix.Fstat(int(fd), &s); err != nil {
		return err
	}
	if s.Nlink > 0 {
		return nil
	}
	return unix.Ftruncate(int(fd), 0)
}
