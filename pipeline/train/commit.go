package train

import (
	"fmt"
	"slices"

	"lethe"
	"lethe/ingest/bus"
	"lethe/internal/sortedset"
	"lethe/internal/swapstore"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
	"lethe/scoring/ensemble"
)

// committedTogether bounds the digests in one output.
const committedTogether = 256

// commit publishes the digests of new models, and of the setup before them, for the transparency log. It comes last:
// only the final search of an erasure waits for it, which is acknowledged later.
func (l *learners) commit() (role.Output, error) {
	var all []wire.Commitment
	committed := make(map[*series][]lethe.Timestep)
	for _, s := range l.all() {
		if !l.owns(s.number) {
			continue
		}
		timesteps := without(slices.Clone(s.kept), s.committed)
		committed[s] = timesteps[:min(len(timesteps), committedTogether-len(all))]
		for _, t := range committed[s] {
			c, err := l.commitment(s, t)
			if err != nil {
				return role.Output{}, err
			}
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		return role.Output{Idle: true}, nil
	}
	if !l.setupCommitted {
		all = slices.Insert(all, 0, wire.Commitment{Setup: true, Digest: l.setup})
	}
	out := role.Output{Topic: bus.Control, Note: func() error { return l.recordCommitted(committed) }}
	for _, c := range all {
		record, err := c.Record()
		if err != nil {
			return role.Output{}, err
		}
		out.Records = append(out.Records, record)
	}
	return out, nil
}

func (l *learners) recordCommitted(committed map[*series][]lethe.Timestep) error {
	if !l.setupCommitted {
		if err := swapstore.Set(l.columns[0].store, []byte(setupKey), l.setup[:]); err != nil {
			return fmt.Errorf("record the setup as published: %w", err)
		}
		l.setupCommitted = true
	}
	// In one order, for reproducible tests.
	for _, s := range l.all() {
		if timesteps := committed[s]; len(timesteps) > 0 {
			if err := s.recordCommitted(timesteps); err != nil {
				return err
			}
		}
	}
	return nil
}

// openSetup computes the digest of the training setup, and reads whether it was published.
func (l *learners) openSetup() error {
	encoded, err := ensemble.Setup{Layout: l.layout, Kernels: l.kernels, Meta: l.meta}.Encode()
	if err != nil {
		return err
	}
	l.setup = ensemble.DigestSetup(encoded)
	value, _, err := l.columns[0].store.Get([]byte(setupKey))
	l.setupCommitted = string(value) == string(l.setup[:])
	return err
}

func (l *learners) commitment(s *series, t lethe.Timestep) (c wire.Commitment, err error) {
	c.Component, c.Timestep, c.By = len(l.layout.Components), t, l.share.ownerOf(l.shardOf(s.number))
	if s.component != overall {
		c.Component, c.Group = l.layout.Place(s.number)
	}
	if c.Digest, err = s.digest(t); err == nil {
		c.Lineage, err = s.lineage(t)
	}
	return c, err
}

// recordCommitted records published digests.
func (s *series) recordCommitted(timesteps []lethe.Timestep) error {
	if err := s.store.Apply(func(w swapstore.Writer) error {
		for _, t := range timesteps {
			w.Set(learntKey(committedPrefix, t, s.component), nil)
		}
		return nil
	}); err != nil {
		return fmt.Errorf("model %d: record its digests as published: %w", s.number, err)
	}
	s.committed = sortedset.Add(s.committed, timesteps...)
	return nil
}
