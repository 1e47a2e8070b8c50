//go:build linux || darwin

package embedded

import "golang.org/x/sys/unix"

// freeBytes is how much can be written to the file system of a folder.
func freeBytes(dir string) (bytes uint64, known bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return s.Bavail * uint64(s.Bsize), true
}
