package timesteps

import (
	"context"
	"fmt"

	"lethe"
	"lethe/pipeline/graphs/beside"
	"lethe/pipeline/graphs/publish"
)

// sender sends slices and manifest of a settled timestep beside the loop, in the order of Publisher.Send. The loop
// stores marks and leaves afterwards.
type sender struct {
	publisher *publish.Publisher
	topics    Topics
	running   *beside.Running
	// now may be nil.
	now *sending
}

type sending struct {
	timestep lethe.Timestep
	publish.Dispatch
	sent   beside.Stage
	failed error
}

// send publishes the slices, then the manifest, once.
func (s *sending) send(ctx context.Context, topics Topics) error {
	s.sent.Do(func() {
		for _, messages := range s.Messages() {
			if s.failed = publishTo(ctx, topics, messages...); s.failed != nil {
				return
			}
		}
	})
	return s.failed
}

// begin starts sending the slices of a timestep that has just settled, if its graph is published.
func (l *sender) begin(ctx context.Context, t lethe.Timestep) error {
	content, err := l.publisher.Store.Load(t)
	if err != nil {
		return err
	}
	if r, _, err := publish.Graph.Of(l.publisher.Store, t); err != nil || r < content.Info.Reopened {
		return err
	}
	s := &sending{timestep: t}
	if err := l.publisher.AddSlices(&s.Dispatch, content, l.publisher.Cutter.All()); err != nil {
		return err
	}
	if err := l.publisher.Decided(ctx, &s.Dispatch); err != nil {
		return err
	}
	l.now = s
	l.running.Run(func() { _ = s.send(ctx, l.topics) })
	return nil
}

// note stores marks and leaves if the slices are sent. If urgent, it waits for that.
func (l *sender) note(ctx context.Context, urgent bool) error {
	s := l.now
	if s == nil || !urgent && !s.sent.Done() {
		return nil
	}
	if err := s.send(ctx, l.topics); err != nil {
		return fmt.Errorf("publish the slices of timestep %d: %w", s.timestep, err)
	}
	l.now = nil
	return l.publisher.Note(&s.Dispatch)
}

// isSending reports whether the slices of a timestep are being sent.
func (l *sender) isSending(t lethe.Timestep) bool { return l.now != nil && l.now.timestep == t }
