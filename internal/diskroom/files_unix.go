//go:build linux || darwin

package diskroom

import (
	"math"
	"syscall"
)

// MostFiles is how many file descriptors the process may have; 0 if that is not known.
func MostFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return int(min(limit.Cur, math.MaxInt32))
}
