// Package processors keeps the processors busy while goroutines wait for the disk.
package processors

import (
	"os"
	"runtime"
)

// Spare raises GOMAXPROCS by two. A goroutine that waits for the disk in a system call occupies a processor slot
// until the runtime notices, which may take as long as the disk: on two processors, syncing a log and a table would
// stop all other work. A GOMAXPROCS in the environment is respected.
//
// Code that sizes its worker pools by the number of processors must read that number before this call.
func Spare() {
	const waiting = 2
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + waiting)
	}
}
