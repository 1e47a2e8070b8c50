// Package cputime measures the processor time of this process.
package cputime

import "time"

// Used returns the processor time of all threads of the process since it started, in user and
// kernel mode. It is 0 where the system does not report it.
func Used() time.Duration { return used() }
