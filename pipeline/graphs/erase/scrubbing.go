package erase

import (
	"context"

	"lethe/deletions/coordinator"
	"lethe/pipeline/graphs/beside"
	"lethe/snapshot"
)

// Scrubbing rewrites staging beside the loop, which continues to process records and then switches to the new files.
type Scrubbing struct {
	Store   *snapshot.Store
	Running *beside.Running
	// now may be nil.
	now *Scrub
}

// Scrub is one rewriting of staging.
type Scrub struct {
	snapshot.Scrub
	// part is the part that runs now, failed its error.
	part   *beside.Stage
	failed error
	// switched means that the new files are in use, ended that the old ones are deleted.
	switched, ended bool
}

var _ coordinator.Scrub = (*Scrub)(nil)

// IsEnded reports whether the old files are deleted.
func (s *Scrub) IsEnded() bool { return s.ended }

// Ended implements coordinator.Scrub.
func (s *Scrub) Ended() (bool, error) { return s.ended, nil }

// IsBusy reports whether staging is being rewritten.
func (l *Scrubbing) IsBusy() bool { return l.now != nil }

// Begin starts a scrub. No other may be in progress.
func (l *Scrubbing) Begin(ctx context.Context) (*Scrub, error) {
	begun, err := l.Store.BeginScrub()
	if err != nil {
		return nil, err
	}
	s := &Scrub{Scrub: begun}
	l.now = s
	l.do(func() error { return s.Fill(ctx) })
	return s, l.GoOn()
}

// do runs a part.
func (l *Scrubbing) do(work func() error) {
	s, part := l.now, new(beside.Stage)
	s.part = part
	l.Running.Run(func() { part.Do(func() { s.failed = work() }) })
}

// GoOn continues the scrub if its current part is done.
func (l *Scrubbing) GoOn() error {
	for s := l.now; s != nil && s.part.Done(); s = l.now {
		switch {
		case s.failed != nil:
			return s.failed
		case s.switched:
			s.ended, l.now = true, nil
		default:
			if err := s.Switch(); err != nil {
				return err
			}
			s.switched = true
			l.do(s.Clean)
		}
	}
	return nil
}
