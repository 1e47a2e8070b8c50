//go:build linux || darwin

package diskroom

import (
	"math"
	"syscall"
)

// MostFiles returns the limit of file descriptors of the process, or 0 if unknown.
func MostFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return int(min(limit.Cur, math.MaxInt32))
}
