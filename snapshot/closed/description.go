package closed

import (
	"encoding/binary"
	"fmt"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/snapshot/stored"
)

// Kinds of keys.
const (
	kindEdge     = 'e' // source, target
	kindAssigned = 'l' // pseudonym: label and shard
	kindMeta     = 'm' // (nothing)
	kindNode     = 'n' // pseudonym: a row
)

// version is the version of a store's keys and values; the description repeats it.
const version = 1

// Format identifies the keys and values of a store.
func Format() swapstore.Format { return swapstore.Format{Kind: "snapshot-graph", Version: version} }

// Description describes a timestep's store. It is written atomically with the content.
type Description struct {
	Revision     lethe.Revision
	FeatureCount int
	Nodes        int
	Payments     int
	// Labelled counts the transactions labelled licit or illicit; it is 0 until the labels are
	// written.
	Labelled int
}

// describe returns the description of a graph without labels.
func describe(g *lethe.Snapshot) Description {
	return Description{
		Revision: g.Revision, FeatureCount: g.FeatureCount, Nodes: len(g.Nodes), Payments: len(g.Payments),
	}
}

// Describe reads the description. Errors: stored.ErrCorrupt, swapstore.ErrFormat.
func (s Graph) Describe() (Description, error) {
	value, found, err := s.Get([]byte{kindMeta})
	if err != nil {
		return Description{}, err
	}
	if !found {
		return Description{}, fmt.Errorf("%w: timestep store without a description", stored.ErrCorrupt)
	}
	return decodeDescription(value)
}

func (d Description) encode() []byte {
	dst := binary.BigEndian.AppendUint32([]byte{version}, uint32(d.Revision))
	dst = binary.BigEndian.AppendUint32(dst, uint32(d.FeatureCount))
	dst = binary.BigEndian.AppendUint64(dst, uint64(d.Nodes))
	dst = binary.BigEndian.AppendUint64(dst, uint64(d.Payments))
	return binary.BigEndian.AppendUint64(dst, uint64(d.Labelled))
}

func decodeDescription(value []byte) (Description, error) {
	c := stored.Over(value)
	if v := c.Uint8(); v != version {
		return Description{}, fmt.Errorf("%w: timestep store of version %d, this program reads %d",
			swapstore.ErrFormat, v, version)
	}
	d := Description{
		Revision:     lethe.Revision(c.Uint32()),
		FeatureCount: int(c.Uint32()),
		Nodes:        int(c.Uint64()),
		Payments:     int(c.Uint64()),
		Labelled:     int(c.Uint64()),
	}
	return d, c.Done("description")
}

func encodeAssigned(label lethe.Label, shard lethe.ShardID) []byte {
	return binary.BigEndian.AppendUint32([]byte{byte(label)}, uint32(shard))
}

func decodeAssigned(value []byte) (lethe.Label, lethe.ShardID, error) {
	c := stored.Over(value)
	label, shard := lethe.Label(c.Uint8()), lethe.ShardID(c.Uint32())
	return label, shard, c.Done("assignment")
}
