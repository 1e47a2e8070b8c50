package snapshot

import (
	"encoding/binary"
	"fmt"

	"lethe"
	"lethe/internal/swapstore"
)

// graphStore is the store of one closed timestep: its graph and, once it is
// settled, labels and shards, which are kept apart from the rows so that
// settling does not write them again.
type graphStore struct {
	*swapstore.Store
	timestep lethe.Timestep
}

// write puts a snapshot without labels into a new store.
func (s graphStore) write(g *lethe.Snapshot) error {
	m := meta{revision: g.Revision, featureCount: g.FeatureCount, nodes: len(g.Nodes), payments: len(g.Payments)}
	return s.Apply(func(w swapstore.Writer) error {
		for i, n := range g.Nodes {
			if err := w.Set(pseudonymKey(kindNode, n.Pseudonym), encodeRow(n.ID, g.Row(i))); err != nil {
				return err
			}
		}
		for _, p := range g.Payments {
			key := pseudonymKey(kindEdge, g.Nodes[p.Source].Pseudonym, g.Nodes[p.Target].Pseudonym)
			if err := w.Set(key, nil); err != nil {
				return err
			}
		}
		return w.Set([]byte{kindMeta}, m.encode())
	})
}

// read returns the snapshot without labels.
func (s graphStore) read() (*lethe.Snapshot, error) {
	m, err := s.meta()
	if err != nil {
		return nil, err
	}
	g := &lethe.Snapshot{Timestep: s.timestep, Revision: m.revision, FeatureCount: m.featureCount}
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
	r, err := decodeRow(value)
	if err != nil {
		return err
	}
	if len(r.features) != g.FeatureCount {
		return fmt.Errorf("%w: row of %d features, want %d", ErrCorrupt, len(r.features), g.FeatureCount)
	}
	g.Nodes = append(g.Nodes, lethe.SnapshotNode{Pseudonym: p, ID: r.id})
	g.Features = append(g.Features, r.features...)
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
