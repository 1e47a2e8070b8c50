package snapshot

import (
	"context"
	"encoding/binary"
	"fmt"

	"lethe"
	"lethe/internal/floatbytes"
	"lethe/internal/swapstore"
)

// graphStore is the store of one closed timestep: its graph and, once it is
// settled, labels and shards, which are kept apart from the rows so that
// settling does not write them again.
type graphStore struct {
	*swapstore.Store
	timestep lethe.Timestep
}

// read returns the snapshot without labels.
func (s graphStore) read() (*lethe.Snapshot, error) {
	m, err := s.meta()
	if err != nil {
		return nil, err
	}
	g := &lethe.Snapshot{Timestep: s.timestep, Revision: m.revision, FeatureCount: m.featureCount}
	const plausible = 1 << 26 // features for which room is made before they are read
	if m.nodes >= 0 && m.nodes <= plausible/max(1, m.featureCount) {
		g.Nodes = make([]lethe.SnapshotNode, 0, m.nodes)
		g.Features = make([]float32, 0, m.nodes*m.featureCount)
	}
	err = s.Scan([]byte{kindNode}, func(key, value []byte) error {
		about, err := pseudonymsAfter(key, 1, 1)
		if err != nil {
			return err
		}
		return addNode(g, about[0], value)
	})
	if err != nil {
		return nil, err
	}
	err = s.Scan([]byte{kindEdge}, func(key, _ []byte) error {
		ends, err := pseudonymsAfter(key, 1, 2)
		if err == nil && !addPayment(g, ends) {
			err = fmt.Errorf("%w: payment without its ends", ErrCorrupt)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := g.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return g, nil
}

// addNode appends a stored row to a snapshot. Rows come in the order of their
// pseudonyms, which is the canonical one.
func addNode(g *lethe.Snapshot, p lethe.Pseudonym, value []byte) error {
	c := cursorOver(value)
	id := lethe.TransactionID(c.Text())
	width := c.Left() / floatbytes.Size
	g.Features = c.AppendFloat32s(g.Features, width)
	if err := c.close("row"); err != nil {
		return err
	}
	if width != g.FeatureCount {
		return fmt.Errorf("%w: row of %d features, want %d", ErrCorrupt, width, g.FeatureCount)
	}
	g.Nodes = append(g.Nodes, lethe.SnapshotNode{Pseudonym: p, ID: id})
	return nil
}

// addPayment appends a payment to a snapshot that has all its nodes, and
// reports whether it has both ends.
func addPayment(g *lethe.Snapshot, ends []lethe.Pseudonym) bool {
	source, foundSource := g.Find(ends[0])
	target, foundTarget := g.Find(ends[1])
	if !foundSource || !foundTarget {
		return false
	}
	g.Payments = append(g.Payments, lethe.Arc{Source: uint32(source), Target: uint32(target)})
	return true
}

// replace writes the store anew with another graph, without the old bytes, and
// returns its description. shards are nil until the timestep is settled.
func (s graphStore) replace(ctx context.Context, g *lethe.Snapshot, shards []lethe.ShardID) (meta, error) {
	m := metaOf(g)
	err := s.Rewrite(ctx, func(_ swapstore.Reader, dst swapstore.Writer) error { return m.fill(dst, g, shards) })
	return m, err
}

func metaOf(g *lethe.Snapshot) meta {
	return meta{revision: g.Revision, featureCount: g.FeatureCount, nodes: len(g.Nodes), payments: len(g.Payments)}
}

// fill sets all that the store of a graph holds, and counts who is labelled. Keys ascend: payments,
// assignments, description, rows.
func (m *meta) fill(dst swapstore.Writer, g *lethe.Snapshot, shards []lethe.ShardID) error {
	for _, p := range g.Payments {
		key := pseudonymKey(kindEdge, g.Nodes[p.Source].Pseudonym, g.Nodes[p.Target].Pseudonym)
		if err := dst.Set(key, nil); err != nil {
			return err
		}
	}
	for i, shard := range shards {
		n := g.Nodes[i]
		if n.Label != lethe.Unknown {
			m.labelled++
		}
		if err := dst.Set(pseudonymKey(kindAssigned, n.Pseudonym), encodeAssigned(n.Label, shard)); err != nil {
			return err
		}
	}
	if err := dst.Set([]byte{kindMeta}, m.encode()); err != nil {
		return err
	}
	var key, row []byte // which Set copies
	for i, n := range g.Nodes {
		key = append(append(key[:0], kindNode), n.Pseudonym[:]...)
		row = appendRow(row[:0], n.ID, g.Row(i))
		if err := dst.Set(key, row); err != nil {
			return err
		}
	}
	return nil
}

// raise gives the store the revision after its own and after another, and returns its description.
func (s graphStore) raise(behind lethe.Revision) (meta, error) {
	m, err := s.meta()
	if err != nil {
		return m, err
	}
	m.revision = max(m.revision, behind) + 1
	return m, s.Apply(func(w swapstore.Writer) error { return w.Set([]byte{kindMeta}, m.encode()) })
}

// adopt gives the store a revision that the same content has elsewhere.
func (s graphStore) adopt(r lethe.Revision) (meta, error) {
	m, err := s.meta()
	if err != nil {
		return m, err
	}
	m.revision = r
	return m, s.Apply(func(w swapstore.Writer) error { return w.Set([]byte{kindMeta}, m.encode()) })
}

// writeAssigned stores labels and shards, and returns how many nodes are
// labelled. Until staging lists the timestep as settled, nobody reads them.
func (s graphStore) writeAssigned(g *lethe.Snapshot, shards []lethe.ShardID) (labelled int, err error) {
	m, err := s.meta()
	if err != nil {
		return 0, err
	}
	m.labelled = 0
	err = s.Apply(func(w swapstore.Writer) error {
		for i, n := range g.Nodes {
			if n.Label != lethe.Unknown {
				m.labelled++
			}
			if err := w.Set(pseudonymKey(kindAssigned, n.Pseudonym), encodeAssigned(n.Label, shards[i])); err != nil {
				return err
			}
		}
		return w.Set([]byte{kindMeta}, m.encode())
	})
	return m.labelled, err
}

// readAssigned fills in the labels of a settled snapshot and returns the shard
// of every node.
func (s graphStore) readAssigned(g *lethe.Snapshot) ([]lethe.ShardID, error) {
	shards := make([]lethe.ShardID, 0, len(g.Nodes))
	err := s.Scan([]byte{kindAssigned}, func(key, value []byte) error {
		i := len(shards)
		if i == len(g.Nodes) || string(key[1:]) != string(g.Nodes[i].Pseudonym[:]) {
			return fmt.Errorf("%w: assignment %d is not that of node %d", ErrCorrupt, i, i)
		}
		label, shard, err := decodeAssigned(value)
		g.Nodes[i].Label = label
		shards = append(shards, shard)
		return err
	})
	if err == nil && len(shards) != len(g.Nodes) {
		err = fmt.Errorf("%w: %d assignments of %d nodes", ErrCorrupt, len(shards), len(g.Nodes))
	}
	return shards, err
}

func encodeAssigned(label lethe.Label, shard lethe.ShardID) []byte {
	return binary.BigEndian.AppendUint32([]byte{byte(label)}, uint32(shard))
}

func decodeAssigned(value []byte) (lethe.Label, lethe.ShardID, error) {
	c := cursorOver(value)
	label, shard := lethe.Label(c.Uint8()), lethe.ShardID(c.Uint32())
	return label, shard, c.close("assignment")
}

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
	dst := binary.BigEndian.AppendUint32([]byte{graphVersion}, uint32(m.revision))
	dst = binary.BigEndian.AppendUint32(dst, uint32(m.featureCount))
	dst = binary.BigEndian.AppendUint64(dst, uint64(m.nodes))
	dst = binary.BigEndian.AppendUint64(dst, uint64(m.payments))
	return binary.BigEndian.AppendUint64(dst, uint64(m.labelled))
}

func decodeMeta(value []byte) (meta, error) {
	c := cursorOver(value)
	if version := c.Uint8(); version != graphVersion {
		return meta{}, fmt.Errorf("%w: timestep store of version %d, this program reads %d",
			swapstore.ErrFormat, version, graphVersion)
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
