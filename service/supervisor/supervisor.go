package supervisor

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Supervisor holds the modules of a process. Use Open, Run once, then Close.
type Supervisor struct {
	modules []Module
	changed func(module string, s State)
	// opened are in the order in which they were opened.
	opened []*running
}

// New takes the modules, each after its dependencies, so that there is no cycle. changed is called
// with every state; it may be called from several goroutines.
func New(modules []Module, changed func(module string, s State)) *Supervisor {
	return &Supervisor{modules: modules, changed: changed}
}

// Open opens the modules in the order of the list. It stops at the first error and returns it unchanged; Close closes
// the opened ones.
func (s *Supervisor) Open(ctx context.Context) error {
	for _, m := range s.modules {
		process, err := m.Open(ctx)
		if err != nil {
			return err
		}
		s.opened = append(s.opened, &running{Module: m, process: process, ended: make(chan struct{})})
	}
	return nil
}

// Close closes the opened modules in reverse, all of them, and joins their
// errors. It must not be called while Run is running.
func (s *Supervisor) Close() error {
	var errs []error
	for _, m := range slices.Backward(s.opened) {
		if err := m.process.Close(); err != nil {
			errs = append(errs, fmt.Errorf("close %s: %w", m.Name, err))
		}
	}
	s.opened = nil
	return errors.Join(errs...)
}
