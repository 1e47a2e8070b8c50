package challenge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"lethe"
	"lethe/canonical"
	"lethe/deletions/translog"
)

const (
	challengeFormat = "lethe-challenge/1"
	// maxChallengeBytes bounds an encoded challenge: it holds one signed note.
	maxChallengeBytes = 1 << 18
	// MaxCount bounds the number of drawn pairs.
	MaxCount = 1_000_000
)

// ErrChallenge marks bytes that are not a challenge.
var ErrChallenge = errors.New("not a challenge")

// Challenge is an auditor's request to a deployment. The auditor creates it after the deployment
// has signed the checkpoint, and retains it: the answer is checked against it.
type Challenge struct {
	// Checkpoint is the signed checkpoint of the log.
	Checkpoint string `json:"checkpoint"`
	// Seed is chosen by the auditor.
	Seed uint64 `json:"seed"`
	// Count is how many pairs are drawn; 0 means all.
	Count int `json:"count"`
	// Shard and Timestep, if not nil, restrict the draw to one shard or one timestep.
	Shard    *lethe.ShardID  `json:"shard,omitempty"`
	Timestep *lethe.Timestep `json:"timestep,omitempty"`
	// Meta includes relearning the newest meta-model.
	Meta bool `json:"meta_model,omitempty"`
}

// challengeRecord is the stored form of a challenge.
type challengeRecord struct {
	Format string `json:"format"`
	Challenge
}

// Validate returns an error for values out of range. It does not check the signature.
func (c Challenge) Validate() error {
	switch {
	case c.Count < 0 || c.Count > MaxCount:
		return fmt.Errorf("%w: count is %d, want 0 to %d", ErrChallenge, c.Count, MaxCount)
	case c.Timestep != nil && *c.Timestep < 0:
		return fmt.Errorf("%w: timestep is %d, want at least 0", ErrChallenge, *c.Timestep)
	}
	if _, err := translog.ParseCheckpoint(c.Checkpoint); err != nil {
		return fmt.Errorf("%w: %w", ErrChallenge, err)
	}
	return nil
}

// Encode returns the challenge as JSON.
func (c Challenge) Encode() ([]byte, error) {
	out, err := json.MarshalIndent(challengeRecord{challengeFormat, c}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("challenge: %w", err)
	}
	return append(out, '\n'), nil
}

// Decode decodes a challenge. The error wraps ErrChallenge.
func Decode(data []byte) (Challenge, error) {
	if len(data) > maxChallengeBytes {
		return Challenge{}, fmt.Errorf("%w: %d bytes, at most %d", ErrChallenge, len(data), maxChallengeBytes)
	}
	var r challengeRecord
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return Challenge{}, fmt.Errorf("%w: %w", ErrChallenge, err)
	}
	if r.Format != challengeFormat {
		return Challenge{}, fmt.Errorf("%w: format %.40q, want %q", ErrChallenge, r.Format, challengeFormat)
	}
	return r.Challenge, r.Validate()
}

// ID identifies the challenge: the log at that size, the seed and the draw. Signatures other than
// the log's own, such as those of witnesses, do not change it.
func (c Challenge) ID() (lethe.Digest, error) {
	tree, err := translog.ParseCheckpoint(c.Checkpoint)
	if err != nil {
		return lethe.Digest{}, fmt.Errorf("%w: %w", ErrChallenge, err)
	}
	w := canonical.NewDigester("LCHL", 1)
	w.String(tree.Origin)
	w.Uint64(uint64(tree.N))
	w.Bytes(tree.Hash[:])
	w.Uint64(c.Seed)
	w.Uint64(uint64(c.Count))
	w.Flag(c.Shard != nil)
	if c.Shard != nil {
		w.Uint32(uint32(*c.Shard))
	}
	w.Flag(c.Timestep != nil)
	if c.Timestep != nil {
		w.Uint64(uint64(*c.Timestep))
	}
	if c.Meta {
		w.String("meta-model")
	}
	return w.Digest(), nil
}
