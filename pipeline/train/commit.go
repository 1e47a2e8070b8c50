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

// committer publishes the digests of models for the transparency log.
type committer struct {
	*learners
	kernels string
	// setupCommitted: the digest of the setup was published.
	setupCommitted bool
}

// committedTogether bounds the digests in one output.
const committedTogether = 256

// commit publishes new digests, and before them the setup's. It comes last, as nobody waits for it, but a final
// search is acknowledged behind it.
func (s *committer) commit() (role.Output, error) {
	said, any := s.uncommitted()
	if !any {
		return role.Output{Idle: true}, nil
	}
	setup, err := s.setupCommitment()
	if err != nil {
		return role.Output{}, err
	}
	out := role.Output{Topic: bus.Control, Note: func() error { return s.recordCommitted(setup, said) }}
	if !s.setupCommitted {
		record, err := setup.Record()
		if err != nil {
			return role.Output{}, err
		}
		out.Records = append(out.Records, record)
	}
	for _, of := range s.all() {
		for _, t := range said[of] {
			c, err := s.commitment(of, t)
			if err != nil {
				return role.Output{}, err
			}
			record, err := c.Record()
			if err != nil {
				return role.Output{}, err
			}
			out.Records = append(out.Records, record)
		}
	}
	return out, nil
}

// uncommitted are the unpublished timesteps of every series, up to committedTogether.
func (s *committer) uncommitted() (said map[*series][]lethe.Timestep, any bool) {
	said = make(map[*series][]lethe.Timestep)
	left := committedTogether
	for _, of := range s.all() {
		if !s.owns(of.number) {
			continue
		}
		timesteps := without(slices.Clone(of.kept), of.said)
		timesteps = timesteps[:min(len(timesteps), left)]
		if len(timesteps) > 0 {
			said[of] = timesteps
			left -= len(timesteps)
		}
	}
	return said, len(said) > 0
}

func (s *committer) recordCommitted(setup wire.Commitment, said map[*series][]lethe.Timestep) error {
	if !s.setupCommitted {
		if err := s.columns[0].store.Apply(func(w swapstore.Writer) error {
			w.Set([]byte(setupKey), setup.Digest[:])
			return nil
		}); err != nil {
			return fmt.Errorf("note the setup that was said: %w", err)
		}
		s.setupCommitted = true
	}
	// In one order, for reproducible tests.
	for _, of := range s.all() {
		if timesteps := said[of]; len(timesteps) > 0 {
			if err := of.recordCommitted(timesteps); err != nil {
				return err
			}
		}
	}
	return nil
}

// setupCommitment commits to what models are trained with.
func (s *committer) setupCommitment() (wire.Commitment, error) {
	encoded, err := ensemble.Setup{Layout: s.layout, Kernels: s.kernels, Meta: s.meta}.Encode()
	return wire.Commitment{Setup: true, Digest: ensemble.DigestSetup(encoded)}, err
}

// open reads whether the setup was published.
func (s *committer) open() error {
	value, _, err := s.columns[0].store.Get([]byte(setupKey))
	if err != nil {
		return err
	}
	c, err := s.setupCommitment()
	s.setupCommitted = string(value) == string(c.Digest[:])
	return err
}

func (s *committer) commitment(of *series, t lethe.Timestep) (c wire.Commitment, err error) {
	c.Component, c.Timestep, c.By = len(s.layout.Components), t, s.share.ownerOf(s.shardOf(of.number))
	if of.component != overall {
		c.Component, c.Group = s.layout.Place(of.number)
	}
	if c.Digest, err = of.digest(t); err == nil {
		c.Lineage, err = of.lineage(t)
	}
	return c, err
}

// recordCommitted records published digests.
func (s *series) recordCommitted(timesteps []lethe.Timestep) error {
	if err := s.store.Apply(func(w swapstore.Writer) error {
		for _, t := range timesteps {
			w.Set(learntKey(saidPrefix, t, s.component), nil)
		}
		return nil
	}); err != nil {
		return fmt.Errorf("model %d: note the digests that were said: %w", s.number, err)
	}
	s.said = sortedset.Add(s.said, timesteps...)
	return nil
}
