package supervisor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// errEnded is the error of a module that stops without having been asked to.
var errEnded = errors.New("ended before it was stopped")

// running is an opened module.
type running struct {
	Module
	process Process
	// ended is closed when Run has returned.
	ended chan struct{}
}

// Run runs the opened modules until the context ends, which is no error, or one
// of them fails, which stops the others too. It returns when all have stopped,
// with the first error, under its module's name.
func (s *Supervisor) Run(ctx context.Context) error {
	stopping, stop := context.WithCancel(ctx)
	defer stop()
	var once sync.Once
	var first error
	var all sync.WaitGroup
	for _, m := range s.opened {
		all.Go(func() {
			defer close(m.ended)
			if err := s.runOne(stopping, m); err != nil {
				once.Do(func() { first = fmt.Errorf("%s: %w", m.Name, err) })
				s.changed(m.Name, Failed)
				stop()
			}
		})
	}
	all.Wait()
	return first
}

// runOne runs a module until everything should stop and everything that needs it has stopped.
func (s *Supervisor) runOne(stopping context.Context, m *running) error {
	ctx, cancel := context.WithCancel(context.WithoutCancel(stopping))
	defer cancel()
	// Listed here, because the goroutine below may outlive Run for a moment, and Close empties the
	// list of modules.
	var dependants []*running
	for _, other := range s.opened {
		if slices.Contains(other.Needs, m.Name) {
			dependants = append(dependants, other)
		}
	}
	go func() {
		select {
		case <-m.ended:
			return
		case <-stopping.Done():
		}
		for _, other := range dependants {
			<-other.ended
		}
		cancel()
	}()
	s.changed(m.Name, Running)
	err := m.process.Run(ctx)
	if err == nil && ctx.Err() == nil {
		return errEnded
	}
	return err
}
