// Package beside runs work of a role beside its loop.
package beside

import (
	"sync"
	"sync/atomic"
)

// Running is what runs beside a loop, and has it step once it has ended.
type Running struct {
	// Start, if not nil, runs work now or later, such as in a goroutine of its own.
	Start func(work func())
	// Wake has the role step.
	Wake    func()
	working sync.WaitGroup
}

// Run runs work beside the loop and wakes the role then, or does it at once.
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

// Wait waits until nothing runs.
func (r *Running) Wait() { r.working.Wait() }

// Stage is work that is done once, by whoever comes first: others wait for it.
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
