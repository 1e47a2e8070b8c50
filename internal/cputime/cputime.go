// Package cputime tells the processor time that this process has used.
package cputime

import "time"

// Used returns the processor time of all threads of the process since it began,
// in and out of the kernel. It is 0 where the system does not tell.
func Used() time.Duration { return used() }
