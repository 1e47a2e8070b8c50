package snapshot

import (
	"encoding/binary"
	"fmt"

	"lethe"
)

// meta describes a timestep's store. It is written together with what it
// describes.
type meta struct {
	revision     lethe.Revision
	featureCount int
	nodes        int
	payments     int
	// labelled counts the transactions labelled licit or illicit; it is 0 until
	// the labels are written.
	labelled int
}

func (m meta) encode() []byte {
	dst := binary.BigEndian.AppendUint32([]byte{formatVersion}, uint32(m.revision))
	dst = binary.BigEndian.AppendUint32(dst, uint32(m.featureCount))
	dst = binary.BigEndian.AppendUint64(dst, uint64(m.nodes))
	dst = binary.BigEndian.AppendUint64(dst, uint64(m.payments))
	return binary.BigEndian.AppendUint64(dst, uint64(m.labelled))
}

func decodeMeta(value []byte) (meta, error) {
	c := cursorOver(value)
	if version := c.Uint8(); version != formatVersion {
		return meta{}, fmt.Errorf("%w: timestep store of format %d, want %d", ErrIncompatible, version, formatVersion)
	}
	m := meta{
		revision:     lethe.Revision(c.Uint32()),
		featureCount: int(c.Uint32()),
		nodes:        int(c.Uint64()),
		payments:     int(c.Uint64()),
		labelled:     int(c.Uint64()),
	}
	return m, c.close("meta")
}

// applyTo returns the timestep's info with the store's revision and counts.
func (m meta) applyTo(i Info) Info {
	i.Revision, i.Nodes, i.Payments = m.revision, m.nodes, m.payments
	if i.State == lethe.Settled {
		i.Labels = m.labelled
	}
	return i
}

// meta reads the description.
func (s graphStore) meta() (meta, error) {
	value, found, err := s.Get([]byte{kindMeta})
	if err != nil {
		return meta{}, err
	}
	if !found {
		return meta{}, fmt.Errorf("%w: timestep store without a description", ErrCorrupt)
	}
	return decodeMeta(value)
}
