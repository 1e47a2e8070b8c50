package train

import (
	"encoding/binary"
	"fmt"

	"lethe"
	"lethe/internal/swapstore"
)

// Keys of a column's store. Timesteps are big-endian so that they sort.
const (
	slicePrefix      = "s/"
	checkpointPrefix = "c/"
	unsentPrefix     = "u/"
	offsetKey        = "o"
)

// storeFormat is the version of these keys and their values.
func storeFormat() swapstore.Format { return swapstore.Format{Kind: "train-shard", Version: 1} }

// storedSlice is the value under slicePrefix: revision and previous timestep,
// then the slice's canonical bytes. The revision is kept beside them because it
// is not part of what a model may depend on.
func storedSlice(link sliceLink, message []byte) []byte {
	out := binary.BigEndian.AppendUint32(make([]byte, 0, linkBytes+len(message)), uint32(link.revision))
	out = binary.BigEndian.AppendUint64(out, uint64(link.previous))
	return append(out, message...)
}

// sliceLink places a slice in its column.
type sliceLink struct {
	revision lethe.Revision
	// previous is the settled timestep before it, or NoTimestep.
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
