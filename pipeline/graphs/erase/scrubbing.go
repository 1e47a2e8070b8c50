package erase

import (
	"context"

	"lethe/deletions/coordinator"
	"lethe/pipeline/graphs/beside"
	"lethe/snapshot"
)

// Scrubbing writes staging anew beside the loop. The loop takes records
// meanwhile, and only changes to the new files.
type Scrubbing struct {
	Store   *snapshot.Store
	Running *beside.Running
	// now is what is under way, nil if nothing is.
	now *Scrub
}

// Scrub is staging that is written anew.
type Scrub struct {
	snapshot.Scrub
	// part is what runs now, and failed why it did not do what it should.
	part   *beside.Stage
	failed error
	// switched says that the new files are in use, ended that the old ones are gone.
	switched, ended bool
}

var _ coordinator.Scrub = (*Scrub)(nil)

// IsEnded reports whether the old files are gone.
func (s *Scrub) IsEnded() bool { return s.ended }

// Ended implements coordinator.Scrub.
func (s *Scrub) Ended() (bool, error) { return s.ended, nil }

// IsBusy reports whether staging is being written anew.
func (l *Scrubbing) IsBusy() bool { return l.now != nil }

// Begin begins. Nothing else may be under way.
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

// do does a part of what is under way.
func (l *Scrubbing) do(work func() error) {
	s, part := l.now, new(beside.Stage)
	s.part = part
	l.Running.Run(func() { part.Do(func() { s.failed = work() }) })
}

// GoOn takes what is under way as far as it is.
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
