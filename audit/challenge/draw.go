package challenge

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"lethe"
)

// Pair is a shard at a timestep.
type Pair struct {
	Shard    lethe.ShardID  `json:"shard"`
	Timestep lethe.Timestep `json:"timestep"`
}

// Compare orders pairs by timestep, then by shard.
func (p Pair) Compare(q Pair) int {
	return cmp.Or(cmp.Compare(p.Timestep, q.Timestep), cmp.Compare(p.Shard, q.Shard))
}

// Draw returns the pairs of the challenge, ascending: Count distinct ones of all whose slice the log commits to, or
// all if there are no more. Over the seeds, each set of this size is equally likely. It returns an error if there are
// none.
func (c Challenge) Draw(v *View) ([]Pair, error) {
	id, err := c.ID()
	if err != nil {
		return nil, err
	}
	all := slices.DeleteFunc(v.Pairs(), func(p Pair) bool {
		return c.Shard != nil && p.Shard != *c.Shard || c.Timestep != nil && p.Timestep != *c.Timestep
	})
	if len(all) == 0 {
		return nil, fmt.Errorf("the log commits to no slice %s", c.confined())
	}
	if c.Count == 0 || c.Count >= len(all) {
		return all, nil
	}
	// The first steps of a shuffle (Fisher and Yates; Durstenfeld 1964).
	random := numbers{key: id}
	for i := range c.Count {
		j := i + random.below(len(all)-i)
		all[i], all[j] = all[j], all[i]
	}
	drawn := all[:c.Count]
	slices.SortFunc(drawn, Pair.Compare)
	return drawn, nil
}

// confined describes the restrictions of the draw.
func (c Challenge) confined() string {
	switch {
	case c.Shard != nil && c.Timestep != nil:
		return fmt.Sprintf("of shard %d at timestep %d", *c.Shard, *c.Timestep)
	case c.Shard != nil:
		return fmt.Sprintf("of shard %d", *c.Shard)
	case c.Timestep != nil:
		return fmt.Sprintf("at timestep %d", *c.Timestep)
	default:
		return "of any shard"
	}
}

// numbers are pseudorandom numbers that cannot be predicted without the key: SHA-256 of the key and
// a counter.
type numbers struct {
	key     lethe.Digest
	counter uint64
}

func (n *numbers) next() uint64 {
	block := sha256.Sum256(binary.BigEndian.AppendUint64(slices.Clone(n.key[:]), n.counter))
	n.counter++
	return binary.BigEndian.Uint64(block[:8])
}

// below returns the next number in [0, limit). Rejection keeps it unbiased.
func (n *numbers) below(limit int) int {
	end := math.MaxUint64 - math.MaxUint64%uint64(limit)
	for {
		if x := n.next(); x < end {
			return int(x % uint64(limit))
		}
	}
}
