package train

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"lethe"
	"lethe/canonical"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
	"lethe/pipeline/role"
)

// errMissing marks what the store should hold and does not.
var errMissing = errors.New("missing from the store")

// column is the slices of one shard through time: its store, and in memory where they
// stand. One goroutine changes it, and only while no model is trained.
type column struct {
	shard lethe.ShardID
	store role.Store
	// links of the stored slices, by timestep.
	links map[lethe.Timestep]sliceLink
	// timesteps of the stored slices, ascending.
	timesteps []lethe.Timestep
	// digests are those of stored slices that were asked for, for the role's loop alone.
	digests map[lethe.Timestep]lethe.Digest
	// learners are what learns from the slices.
	learners []learner
	// offset is where the shard's topic partition is resumed.
	offset int64
	// in has arrived and is not stored yet.
	in incoming
}

// learner is what learns from slices: a model, or the meta-model.
type learner interface {
	// unlearn removes everything that was learnt through a timestep or a later one.
	unlearn(from lethe.Timestep) error
	// withdraw notes that a timestep is gone, so that what was learnt through it has
	// to be deleted from its topic. newest is the timestep before it if it was the newest,
	// else NoTimestep: what was learnt through that is the newest again.
	withdraw(t, newest lethe.Timestep) error
}

// openColumn reads from a store where the shard stands.
func openColumn(store role.Store, shard lethe.ShardID) (*column, error) {
	c := &column{
		shard: shard, store: store, links: make(map[lethe.Timestep]sliceLink), digests: make(map[lethe.Timestep]lethe.Digest),
	}
	err := store.Scan([]byte(slicePrefix), func(key, value []byte) error {
		t, err := timestepkey.Parse(slicePrefix, key)
		if err != nil {
			return err
		}
		link, _, err := splitStoredSlice(value)
		if err != nil {
			return err
		}
		c.links[t] = link
		c.timesteps = append(c.timesteps, t)
		return nil
	})
	if err != nil {
		return c, err
	}
	c.offset, err = readOffset(store)
	return c, err
}

// readOffset returns the position behind the last record that was read.
func readOffset(store swapstore.Reader) (int64, error) {
	value, found, err := store.Get([]byte(offsetKey))
	if err != nil || !found {
		return 0, err
	}
	return int64(binary.BigEndian.Uint64(value)), nil
}

// message reads the canonical bytes of a stored slice.
func (c *column) message(t lethe.Timestep) ([]byte, error) {
	value, found, err := c.store.Get(timestepkey.New(slicePrefix, t))
	if err == nil && !found {
		err = errMissing
	}
	if err != nil {
		return nil, fmt.Errorf("shard %d: slice of timestep %d: %w", c.shard, t, err)
	}
	_, message, err := splitStoredSlice(value)
	return message, err
}

// slice reads a stored slice.
func (c *column) slice(t lethe.Timestep) (*lethe.Slice, error) {
	message, err := c.message(t)
	if err != nil {
		return nil, err
	}
	return canonical.DecodeSlice(message)
}

// digestOf returns the digest of a stored slice, whose bytes are at hand.
func (c *column) digestOf(t lethe.Timestep, message []byte) lethe.Digest {
	digest, known := c.digests[t]
	if !known {
		digest = canonical.DigestOf(message)
		c.digests[t] = digest
	}
	return digest
}

// newest returns the newest timestep that has a slice, or NoTimestep.
func (c *column) newest() lethe.Timestep {
	if len(c.timesteps) == 0 {
		return lethe.NoTimestep
	}
	return c.timesteps[len(c.timesteps)-1]
}

// before returns the timestep before one that has a slice, or NoTimestep.
func (c *column) before(t lethe.Timestep) lethe.Timestep {
	if at, found := slices.BinarySearch(c.timesteps, t); found && at > 0 {
		return c.timesteps[at-1]
	}
	return lethe.NoTimestep
}

// digest returns the digest of a stored slice.
func (c *column) digest(t lethe.Timestep) (lethe.Digest, error) {
	if digest, known := c.digests[t]; known {
		return digest, nil
	}
	message, err := c.message(t)
	if err != nil {
		return lethe.Digest{}, err
	}
	return c.digestOf(t, message), nil
}
