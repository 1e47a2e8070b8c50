//go:build linux || darwin

package diskroom

import "golang.org/x/sys/unix"

// Of returns the space of the file system that holds an existing path.
func Of(path string) (Room, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return Room{}, err
	}
	return Room{s.Bavail * uint64(s.Bsize), s.Blocks * uint64(s.Bsize)}, nil
}

// Same reports whether two existing paths are on the same file system.
func Same(a, b string) (bool, error) {
	var of [2]unix.Stat_t
	for i, path := range []string{a, b} {
		if err := unix.Stat(path, &of[i]); err != nil {
			return false, err
		}
	}
	return of[0].Dev == of[1].Dev, nil
}
