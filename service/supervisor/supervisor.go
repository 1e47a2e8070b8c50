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
func New(modules []Module, changed func(module string, s State)) (*Supervisor, error) {
	known := make(map[string]bool)
	for _, m := range modules {
		if known[m.Name] {
			return nil, fmt.Errorf("module %s is there twice", m.Name)
		}
		for _, need := range m.Needs {
			if !known[need] {
				return nil, fmt.Errorf("module %s needs %s, which is not before it", m.Name, need)
			}
		}
		known[m.Name] = true
	}
	return &Supervisor{modules: modules, changed: changed}, nil
}

// OpenAll opens all modules.
func (s *Supervisor) OpenAll(ctx context.Context) error {
	var names []string
	for _, m := range s.modules {
		names = append(names, m.Name)
	}
	return s.Open(ctx, names...)
}

// Open opens the named modules and all that they need, in the order of the list. It stops at the first error and
// returns it unchanged; Close closes the opened ones.
func (s *Supervisor) Open(ctx context.Context, names ...string) error {
	wanted := make(map[string]bool)
	for _, name := range names {
		wanted[name] = true
	}
	for _, m := range slices.Backward(s.modules) {
		for _, need := range m.Needs {
			wanted[need] = wanted[need] || wanted[m.Name]
		}
	}
	for _, m := range s.modules {
		if !wanted[m.Name] {
			continue
		}
		process, err := m.Open(ctx)
		if err != nil {
			return err
		}
		s.opened = append(s.opened, &running{Module: m, process: process, ended: make(chan struct{})})
		s.changed(m.Name, Opened)
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
