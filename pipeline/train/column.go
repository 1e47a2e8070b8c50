package train

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/canonical"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
	"lethe/pipeline/role"
)

// errMissing: the store lacks something.
var errMissing = errors.New("missing from the store")

// column is a shard's slices through time. One goroutine changes it, while no model is trained.
type column struct {
	shard     lethe.ShardID
	store     role.Store
	links     map[lethe.Timestep]sliceLink
	timesteps []lethe.Timestep
	// digests are cached, for the role's loop.
	digests  map[lethe.Timestep]lethe.Digest
	learners []learner
	// gone are timesteps known to be removed.
	gone map[lethe.Timestep]bool
	// offset is the position in the shard's partition.
	offset int64
	// in has arrived and is not stored.
	in incoming
}

// learner is a model or the meta-model.
type learner interface {
	// unlearn removes the values from a timestep on.
	unlearn(from lethe.Timestep) error
}

// openColumn reads a shard's state.
func openColumn(store role.Store, shard lethe.ShardID) (*column, error) {
	c := &column{
		shard: shard, store: store, links: make(map[lethe.Timestep]sliceLink), digests: make(map[lethe.Timestep]lethe.Digest),
		gone: make(map[lethe.Timestep]bool),
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

// readOffset returns the stored position.
func readOffset(store swapstore.Reader) (int64, error) {
	value, found, err := store.Get([]byte(offsetKey))
	if err != nil || !found {
		return 0, err
	}
	return int64(binary.BigEndian.Uint64(value)), nil
}

// message reads a slice's canonical bytes.
func (c *column) message(t lethe.Timestep) ([]byte, error) {
	return readMessage(c.store.Get, c.shard, t)
}

// readMessage reads a slice's canonical bytes from where get finds the value of a key.
func readMessage(
	get func(key []byte) (value []byte, found bool, err error), shard lethe.ShardID, t lethe.Timestep,
) ([]byte, error) {
	value, found, err := get(timestepkey.New(slicePrefix, t))
	if err == nil && !found {
		err = errMissing
	}
	if err != nil {
		return nil, fmt.Errorf("shard %d: slice of timestep %d: %w", shard, t, err)
	}
	_, message, err := splitStoredSlice(value)
	return message, err
}

func (c *column) slice(t lethe.Timestep) (*lethe.Slice, error) {
	message, err := c.message(t)
	if err != nil {
		return nil, err
	}
	return canonical.DecodeSlice(message)
}

// digestOf returns the digest of a slice with known bytes.
func (c *column) digestOf(t lethe.Timestep, message []byte) lethe.Digest {
	digest, known := c.digests[t]
	if !known {
		digest = canonical.DigestOf(message)
		c.digests[t] = digest
	}
	return digest
}

// newest returns the newest timestep, or NoTimestep.
func (c *column) newest() lethe.Timestep {
	if len(c.timesteps) == 0 {
		return lethe.NoTimestep
	}
	return c.timesteps[len(c.timesteps)-1]
}

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

// removePassedOver removes slices that a new one's predecessor rules out, and reports whether there were any: they
// are gone, and their deletion was compacted away unread. (A timestep inserted between is read before those behind
// it name it.)
func (c *column) removePassedOver(s *lethe.Slice) (removed bool, err error) {
	isBetween := func(t lethe.Timestep) bool { return s.Previous < t && t < s.Timestep }
	arrived := slices.Collect(maps.Keys(c.in.slices))
	if !slices.ContainsFunc(c.timesteps, isBetween) && !slices.ContainsFunc(arrived, isBetween) {
		return false, nil
	}
	if err := c.flush(); err != nil {
		return false, err
	}
	offset := binary.BigEndian.AppendUint64(nil, uint64(c.offset))
	for _, t := range slices.Clone(c.timesteps) {
		if !isBetween(t) {
			continue
		}
		if err := c.remove(t, offset); err != nil {
			return true, fmt.Errorf("remove the slice of timestep %d: %w", t, err)
		}
	}
	return true, nil
}

// remove deletes the slice of a timestep that is gone, after all that was learnt from it on.
func (c *column) remove(t lethe.Timestep, offset []byte) error {
	_, found := c.links[t]
	c.gone[t] = true
	if found {
		if err := c.unlearn(t); err != nil {
			return err
		}
	}
	err := c.store.Apply(func(w swapstore.Writer) error {
		if found {
			w.Delete(timestepkey.New(slicePrefix, t))
		}
		w.Set([]byte(offsetKey), offset)
		return nil
	})
	if err == nil && found {
		delete(c.links, t)
		delete(c.digests, t)
		c.timesteps = slices.DeleteFunc(c.timesteps, func(at lethe.Timestep) bool { return at == t })
	}
	return err
}
