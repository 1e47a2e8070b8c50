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
