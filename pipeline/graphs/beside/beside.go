// Package beside runs work of a role beside its loop.
package beside

import (
	"sync"
	"sync/atomic"
)

// Running runs work beside a loop and wakes the loop when it has ended.
type Running struct {
	// Start, if not nil, runs work now or later, such as in a goroutine of its own.
	Start func(work func())
	// Wake wakes the role.
	Wake    func()
	working sync.WaitGroup
}

// Run starts work beside the loop; without Start it does the work.
func (r *Running) Run(work func()) {
	if r.Start == nil {
		work()
		return
	}
	r.working.Add(1)
	r.Start(func() {
		defer r.working.Done()
		work()
		r.Wake()
	})
}

// Wait waits until no work runs.
func (r *Running) Wait() { r.working.Wait() }

// Stage is work that is done once; concurrent callers wait for it.
type Stage struct {
	once sync.Once
	done atomic.Bool
}

// Do does the work unless it was done.
func (s *Stage) Do(work func()) {
	s.once.Do(func() {
		work()
		s.done.Store(true)
	})
}

// Done reports whether the work was done.
func (s *Stage) Done() bool { return s.done.Load() }
