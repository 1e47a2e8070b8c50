//go:build linux || darwin

package openfiles

import "golang.org/x/sys/unix"

// Limit returns the current limit. Go raises it to the hard limit when a process starts.
func Limit() (uint64, error) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 0, err
	}
	return limit.Cur, nil
}
