package role

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// Erasure is an open request in a role that holds copies, in a leader or a standby. Own is the role's own state of it.
type Erasure[Own any] struct {
	Command *wire.Command
	Own     Own
	// acknowledged are the newest attempts, by step.
	acknowledged map[deletions.Step]int
}

// Owes reports whether a step of the current attempt is not acknowledged yet.
func (e *Erasure[Own]) Owes(step deletions.Step) bool {
	attempt, done := e.acknowledged[step]
	return !done || attempt < e.Command.Attempt
}

// Erasures are the open requests of a role.
type Erasures[Own any] struct {
	// Role, Instance and Run identify this process in acknowledgements.
	Role, Instance, Run string
	Secret              lethe.Secret
	// Rewriting means that the role handles commands to rewrite only: any other ends the request.
	Rewriting bool
	// Open are the requests, by id.
	Open map[string]*Erasure[Own]
}

// Rewrite reports whether an open request rewrites a timestep.
func (s *Erasures[Own]) Rewrite(t lethe.Timestep) bool {
	for _, e := range s.Open {
		if slices.ContainsFunc(e.Command.Steps, func(step wire.CommandStep) bool { return step.Timestep == t }) {
			return true
		}
	}
	return false
}

// Take calls process with the commands among notices.
func (s *Erasures[Own]) Take(notices []wire.Notice, process func(*Erasure[Own]) error) error {
	for _, n := range notices {
		if n.Deleted != "" {
			delete(s.Open, n.Deleted)
		}
		c := n.Command
		if c == nil {
			continue
		}
		if err := c.Shares(s.Secret); err != nil {
			return err
		}
		if s.Rewriting && !c.Phase.Rewrites() {
			delete(s.Open, c.RequestID)
			continue
		}
		known := s.Open[c.RequestID]
		if known == nil || c.Restarts(known.Command) {
			known = &Erasure[Own]{acknowledged: make(map[deletions.Step]int)}
			if s.Open == nil {
				s.Open = make(map[string]*Erasure[Own])
			}
			s.Open[c.RequestID] = known
		}
		known.Command = c
		if err := process(known); err != nil {
			return fmt.Errorf("request %s: %w", c.RequestID, err)
		}
	}
	return nil
}

// Ack returns an acknowledgement of a step, which the caller completes.
func (s *Erasures[Own]) Ack(e *Erasure[Own], step deletions.Step) deletions.Ack {
	a := deletions.NewAck(e.Command.RequestID, s.Role, s.Instance, step)
	a.Attempt, a.Run = e.Command.Attempt, s.Run
	return a
}

// Acknowledge publishes the first acknowledgement that one returns for a request, in the order of ids; a zero value
// means none. If there is none, the output is idle.
func (s *Erasures[Own]) Acknowledge(
	ctx context.Context, one func(context.Context, *Erasure[Own]) (deletions.Ack, error),
) (Output, error) {
	for _, id := range slices.Sorted(maps.Keys(s.Open)) {
		e := s.Open[id]
		a, err := one(ctx, e)
		var value []byte
		if err == nil && a.Step != "" {
			value, err = a.Encode()
		}
		if err != nil {
			return Output{}, fmt.Errorf("request %s: %w", id, err)
		}
		if value == nil {
			continue
		}
		records := []ingest.Outgoing{{Key: []byte(a.Key()), Value: value}}
		return Output{Topic: bus.Control, Records: records, Note: func() error {
			e.acknowledged[a.Step] = a.Attempt
			return nil
		}}, nil
	}
	return Output{Idle: true}, nil
}
