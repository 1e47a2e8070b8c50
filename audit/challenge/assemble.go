package challenge

import (
	"errors"
	"fmt"
	"strings"

	"lethe"
	"lethe/deletions/translog"
	"lethe/scoring/ensemble"
)

// Source provides the stored data of a deployment that an answer may need. Errors of its methods
// name coordinates.
type Source interface {
	// Slice returns the canonical bytes of a slice.
	Slice(p Pair) ([]byte, error)
	// Model returns the canonical bytes of a model's checkpoint after a timestep.
	Model(model lethe.ShardID, t lethe.Timestep) ([]byte, error)
	// Salts returns the salts of the first n targets of a request.
	Salts(request lethe.Digest, n int) []lethe.Digest
	// FoundSalt returns the salt of the findings of a request.
	FoundSalt(request lethe.Digest) lethe.Digest
}

// ErrUnanswerable marks a challenge that cannot be answered.
var ErrUnanswerable = errors.New("the challenge cannot be answered")

// Assemble builds the answer to a challenge. leaves are all leaves of the log, at least as many as
// the checkpoint of the challenge has; setup is encoded. Nothing is trained, and digests of slices
// and models are not compared: the auditor does both.
//
// Errors wrap ErrUnanswerable if the log is shorter or a different one, lacks required leaves or commits to another
// setup, and are those of the source otherwise.
func Assemble(c Challenge, leaves [][]byte, setup []byte, from Source) (*Bundle, error) {
	id, err := c.ID()
	if err != nil {
		return nil, err
	}
	tree, err := translog.ParseCheckpoint(c.Checkpoint)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrChallenge, err)
	}
	if int64(len(leaves)) < tree.N {
		return nil, fmt.Errorf("%w: the log has %d leaves, its checkpoint %d", ErrUnanswerable, len(leaves), tree.N)
	}
	leaves = leaves[:tree.N]
	if root, err := rootOf(leaves); err != nil || root.Hash != tree.Hash {
		return nil, fmt.Errorf("%w: the checkpoint is not of this log", ErrUnanswerable)
	}
	v, err := Read(leaves)
	if err != nil {
		return nil, err
	}
	if ensemble.DigestSetup(setup) != v.Setup() {
		return nil, fmt.Errorf("%w: the configuration of the models is not that of the log: give the one that the directory "+
			"was written with", ErrUnanswerable)
	}
	s, err := ensemble.DecodeSetup(setup)
	if err != nil {
		return nil, err
	}
	pairs, err := c.Draw(v)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnanswerable, err)
	}
	steps, problems := v.Steps(s.Layout, pairs)
	if len(problems) > 0 {
		return nil, fmt.Errorf("%w: %s", ErrUnanswerable, strings.Join(problems, "; "))
	}
	if c.Meta {
		if steps, err = v.WithMeta(steps, s); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrUnanswerable, err)
		}
	}
	b := &Bundle{Challenge: id, Checkpoint: c.Checkpoint, Leaves: leaves, Setup: setup}
	for _, q := range v.carriedOut() {
		if q.salts() == 0 {
			continue
		}
		salts := from.Salts(q.at.Digest, q.at.Count())
		if q.found != nil {
			salts = append(salts, from.FoundSalt(q.at.Digest))
		}
		b.Openings = append(b.Openings, Opening{q.at.Digest, salts})
	}
	return b, b.fill(steps, from)
}

// fill adds the artefacts that the steps need to the bundle.
func (b *Bundle) fill(steps Steps, from Source) error {
	for _, p := range steps.Slices() {
		data, err := from.Slice(p)
		if err != nil {
			return fmt.Errorf("slice of shard %d at timestep %d: %w", p.Shard, p.Timestep, err)
		}
		b.Slices = append(b.Slices, data)
	}
	for _, p := range steps.Before() {
		data, err := from.Model(p.Shard, p.Timestep)
		if err != nil {
			return fmt.Errorf("%s after timestep %d: %w", steps.named(p.Shard), p.Timestep, err)
		}
		b.Models = append(b.Models, data)
	}
	return nil
}
