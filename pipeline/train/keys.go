package train

import (
	"encoding/binary"
	"fmt"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/internal/mixedstore"
	"lethe/internal/swapstore"
)

// Keys of a column's store. Timesteps are big-endian so that they sort.
const (
	slicePrefix      = "s/"
	checkpointPrefix = "c/"
	unsentPrefix     = "u/"
	withdrawnPrefix  = "d/"
	offsetKey        = "o"
)

// storeFormat is the version of these keys and their values.
func storeFormat() swapstore.Format { return swapstore.Format{Kind: "train-shard", Version: 2} }

// filePrefixes are those whose values are files, which are unlinked when they are
// replaced or deleted.
func filePrefixes() []string { return []string{slicePrefix, checkpointPrefix} }

// openStore opens the store in a shard's folder. The first version had no files.
func openStore(fs vfs.FS, dir string) (*mixedstore.Store, error) {
	old := swapstore.Format{Kind: storeFormat().Kind, Version: 1}
	same := func(src swapstore.Reader, w swapstore.Writer) error { return src.Scan(nil, w.Set) }
	if err := mixedstore.Convert(fs, dir, old, storeFormat(), same, filePrefixes()...); err != nil {
		return nil, err
	}
	return mixedstore.Open(fs, dir, storeFormat(), filePrefixes()...)
}

// storedSlice is the value under slicePrefix: revision and previous timestep,
// then the slice's canonical bytes. The revision is kept with them because it
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
