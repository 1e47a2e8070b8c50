package train

import (
	"encoding/binary"
	"fmt"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/internal/mixedstore"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
)

// Keys of a shard's store, with big-endian timesteps. Learnt values have the component behind, except 0.
const (
	slicePrefix      = "s/" // timestep -> link, canonical slice
	checkpointPrefix = "c/" // timestep, component -> value: a checkpoint or a meta-model
	committedPrefix  = "h/" // timestep, component: the digest was published for the log
	madePrefix       = "g"  // component -> inputs that its values depend on
	adoptedPrefix    = "a"  // component: some values are adopted from other processes
	offsetKey        = "o"
	servedKey        = "n" // in shard 0: the timestep of the served models, and the place of its entry
	setupKey         = "t" // in shard 0: the digest of the setup as published
)

// overall is the meta-model's component.
const overall = 0xff

// learntKey is the key of a component's value.
func learntKey(prefix string, t lethe.Timestep, component int) []byte {
	key := timestepkey.New(prefix, t)
	if component != 0 {
		key = append(key, byte(component))
	}
	return key
}

// splitLearnt parses a learntKey.
func splitLearnt(prefix string, key []byte) (t lethe.Timestep, component int, err error) {
	t, rest, err := timestepkey.Cut(prefix, key)
	switch {
	case err != nil || len(rest) == 0:
		return t, 0, err
	case len(rest) > 1 || rest[0] == 0:
		return t, 0, fmt.Errorf("key under %q has %d bytes behind the timestep, want a component", prefix, len(rest))
	}
	return t, int(rest[0]), nil
}

func storeFormat() swapstore.Format { return swapstore.Format{Kind: "train-shard", Version: 2} }

// filePrefixes have values in files, which are unlinked.
func filePrefixes() []string { return []string{slicePrefix, checkpointPrefix} }

func openStore(fs vfs.FS, dir string) (*mixedstore.Store, error) {
	return mixedstore.Open(fs, dir, storeFormat(), filePrefixes()...)
}

// storedSlice is the revision, the previous timestep and the canonical bytes. A model must not depend on the
// revision.
func storedSlice(link sliceLink, message []byte) []byte {
	out := binary.BigEndian.AppendUint32(make([]byte, 0, linkBytes+len(message)), uint32(link.revision))
	out = binary.BigEndian.AppendUint64(out, uint64(link.previous))
	return append(out, message...)
}

// sliceLink is a slice's place in its column.
type sliceLink struct {
	revision lethe.Revision
	// previous is the settled timestep before, or NoTimestep.
	previous lethe.Timestep
}

const linkBytes = 12

func splitStoredSlice(value []byte) (sliceLink, []byte, error) {
	if len(value) < linkBytes {
		return sliceLink{}, nil, fmt.Errorf("stored slice of %d bytes", len(value))
	}
	return sliceLink{
		revision: lethe.Revision(binary.BigEndian.Uint32(value)),
		previous: lethe.Timestep(binary.BigEndian.Uint64(value[4:])),
	}, value[linkBytes:], nil
}
