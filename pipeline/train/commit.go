package train

import (
	"fmt"
	"slices"

	"lethe"
	"lethe/canonical"
	"lethe/ingest/bus"
	"lethe/internal/sortedset"
	"lethe/internal/swapstore"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
	"lethe/scoring/ensemble"
	"lethe/scoring/meta"
	"lethe/trainer"
)

// saidTogether bounds the models whose digests are said in one output.
const saidTogether = 256

// commit says the digests of what was learnt and not said yet, for the log to commit to,
// and before them that of what models are trained with. It is the last thing that is done:
// nobody waits for it, but a command to search everything is answered behind it.
func (l *logic) commit() (role.Output, error) {
	said, any := l.unsaid()
	if !any {
		return role.Output{Idle: true}, nil
	}
	var list []wire.Commitment
	setup, err := l.setupCommitment()
	if err != nil {
		return role.Output{}, err
	}
	if !l.setupSaid {
		list = append(list, setup)
	}
	for _, s := range l.all() {
		for _, t := range said[s] {
			c, err := l.commitment(s, t)
			if err != nil {
				return role.Output{}, err
			}
			list = append(list, c)
		}
	}
	out := role.Output{Topic: bus.ErasureStatus, Note: func() error { return l.noteSaid(setup, said) }}
	for _, c := range list {
		record, err := c.Record(l.o.Secret)
		if err != nil {
			return role.Output{}, err
		}
		out.Records = append(out.Records, record)
	}
	return out, nil
}

// unsaid are the timesteps of every series whose digest was not said, as many as are said
// together.
func (l *logic) unsaid() (said map[*series][]lethe.Timestep, any bool) {
	said = make(map[*series][]lethe.Timestep)
	left := saidTogether
	for _, s := range l.all() {
		timesteps := s.unsaid()
		timesteps = timesteps[:min(len(timesteps), left)]
		if len(timesteps) > 0 && s.component != former {
			said[s] = timesteps
			left -= len(timesteps)
		}
	}
	return said, len(said) > 0
}

// noteSaid notes what was said.
func (l *logic) noteSaid(setup wire.Commitment, said map[*series][]lethe.Timestep) error {
	if !l.setupSaid {
		if err := l.columns[0].store.Apply(func(w swapstore.Writer) error {
			return w.Set([]byte(setupKey), setup.Digest[:])
		}); err != nil {
			return fmt.Errorf("note the setup that was said: %w", err)
		}
		l.setupSaid = true
	}
	for s, timesteps := range said {
		if err := s.noteSaid(timesteps); err != nil {
			return err
		}
	}
	return nil
}

// setupCommitment is that of what models are trained with.
func (l *logic) setupCommitment() (wire.Commitment, error) {
	encoded, err := ensemble.Setup{Layout: l.o.Layout, Kernels: l.o.Kernels.Name, Described: l.o.Meta == nil}.Encode()
	return wire.Commitment{Setup: true, Digest: ensemble.DigestSetup(encoded)}, err
}

// openCommitments finds out whether the present setup was said.
func (l *logic) openCommitments() error {
	value, _, err := l.columns[0].store.Get([]byte(setupKey))
	if err != nil {
		return err
	}
	c, err := l.setupCommitment()
	l.setupSaid = string(value) == string(c.Digest[:])
	return err
}

// commitment is that of what was learnt through a timestep.
func (l *logic) commitment(s *series, t lethe.Timestep) (wire.Commitment, error) {
	value, err := s.value(t)
	if err != nil {
		return wire.Commitment{}, err
	}
	c := wire.Commitment{Component: len(l.o.Layout.Components), Timestep: t, Digest: canonical.DigestOf(value)}
	if s.component != overall {
		c.Component, c.Group = l.o.Layout.Place(s.number)
	}
	if c.Lineage = s.lineages[t]; !c.Lineage.IsZero() {
		return c, nil
	}
	if s.component == overall {
		var m *meta.Model
		if m, err = meta.Decode(value); err == nil {
			c.Lineage = m.Lineage
		}
	} else {
		var m *trainer.Checkpoint
		if m, err = trainer.DecodeCheckpoint(value); err == nil {
			c.Lineage = m.Lineage
		}
	}
	if err != nil {
		return c, fmt.Errorf("model %d: checkpoint after timestep %d: %w", s.number, t, err)
	}
	return c, nil
}

// unsaid are the timesteps whose digest was not said.
func (s *series) unsaid() []lethe.Timestep { return without(slices.Clone(s.kept), s.said) }

// noteSaid notes that digests were said.
func (s *series) noteSaid(timesteps []lethe.Timestep) error {
	err := s.store.Apply(func(w swapstore.Writer) error {
		for _, t := range timesteps {
			if err := w.Set(learntKey(saidPrefix, t, s.component), nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("model %d: note the digests that were said: %w", s.number, err)
	}
	for _, t := range timesteps {
		delete(s.lineages, t)
	}
	s.said = sortedset.Add(s.said, timesteps...)
	return nil
}
