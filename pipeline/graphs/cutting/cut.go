// Package cutting assigns the transactions of a settled timestep to shards and cuts it into slices, in the role's loop
// or beside it.
package cutting

import (
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"lethe"
	"lethe/canonical"
	"lethe/partition/repair"
	"lethe/snapshot"
)

// Cut cuts a settled timestep into slices.
type Cut struct {
	Shards int
	Repair repair.Config
}

// All returns all shards.
func (c Cut) All() []lethe.ShardID {
	all := make([]lethe.ShardID, c.Shards)
	for i := range all {
		all[i] = lethe.ShardID(i)
	}
	return all
}

// Digests returns the digest of every shard's slice.
func (c Cut) Digests(content *snapshot.Content) ([]lethe.Digest, error) {
	list, err := repair.Slices(content.Snapshot, content.Info.Previous, content.Assignment, c.Shards, c.Repair)
	if err != nil {
		return nil, err
	}
	out := make([]lethe.Digest, len(list))
	for i, slice := range list {
		out[i] = canonical.DigestSlice(slice)
	}
	return out, nil
}

// Encoded returns the slices of some shards as bytes.
func (c Cut) Encoded(content *snapshot.Content, shards []lethe.ShardID) ([][]byte, error) {
	out := make([][]byte, len(shards))
	working := SideBySide()
	for i, shard := range shards {
		working.Go(func() error {
			s, err := c.One(content, shard)
			if err != nil {
				return fmt.Errorf("slice of shard %d: %w", shard, err)
			}
			out[i] = canonical.EncodeSlice(s)
			return nil
		})
	}
	return out, working.Wait()
}

// One returns the slice of a shard.
func (c Cut) One(content *snapshot.Content, shard lethe.ShardID) (*lethe.Slice, error) {
	return repair.OneSlice(content.Snapshot, content.Info.Previous, content.Assignment, c.Shards, shard, c.Repair)
}

// SideBySide runs as many functions at a time as there are processors.
func SideBySide() *errgroup.Group {
	group := new(errgroup.Group)
	group.SetLimit(runtime.GOMAXPROCS(0))
	return group
}
