// Package processors has a program use its processors while goroutines of it wait for the disk.
package processors

import (
	"os"
	"runtime"
)

// Spare lets two goroutines more run at a time than there are processors. One that waits for the disk in a system call
// counts as running until the runtime looks, which may take as long as the disk: on two processors, a log and a table
// that are being made durable leave nobody to work. A GOMAXPROCS in the environment is left as it is.
//
// Whoever works on as many things at a time as there are processors has asked how many there are before.
func Spare() {
	const waiting = 2
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + waiting)
	}
}
