package snapshot

import (
	"encoding/binary"
	"fmt"

	"lethe"
	"lethe/internal/swapstore"
)

// writeGraph creates the timestep's store and puts the snapshot there, in place
// of whatever a crash left.
func (s *Store) writeGraph(g *lethe.Snapshot) error {
	if err := s.stores.remove(g.Timestep); err != nil {
		return err
	}
	store, err := s.stores.get(g.Timestep)
	if err != nil {
		return err
	}
	m := meta{revision: g.Revision, featureCount: g.FeatureCount, nodes: len(g.Nodes), payments: len(g.Payments)}
	return store.Apply(func(w swapstore.Writer) error {
		for i, n := range g.Nodes {
			if err := w.Set(pseudonymKey(kindNode, n.Pseudonym), encodeRow(n.ID, g.Row(i))); err != nil {
				return err
			}
		}
		for _, p := range g.Payments {
			if err := w.Set(edgeKey(g.Nodes[p.Source].Pseudonym, g.Nodes[p.Target].Pseudonym), nil); err != nil {
				return err
			}
		}
		return w.Set([]byte{kindMeta}, m.encode())
	})
}

// readGraph reads the snapshot of a closed timestep, without labels.
func (s *Store) readGraph(t lethe.Timestep) (*lethe.Snapshot, error) {
	store, err := s.stores.get(t)
	if err != nil {
		return nil, err
	}
	m, err := readMeta(store)
	if err != nil {
		return nil, err
	}
	g := &lethe.Snapshot{Timestep: t, Revision: m.revision, FeatureCount: m.featureCount}
	positions := make(map[lethe.Pseudonym]uint32, m.nodes)
	err = store.Scan([]byte{kindNode}, func(key, value []byte) error {
		return addNode(g, positions, key[1:], value)
	})
	if err != nil {
		return nil, err
	}
	err = store.Scan([]byte{kindEdge}, func(key, _ []byte) error {
		ends, err := pseudonymsAfter(key, 1, 2)
		if err != nil {
			return err
		}
		source, foundSource := positions[ends[0]]
		target, foundTarget := positions[ends[1]]
		if !foundSource || !foundTarget {
			return fmt.Errorf("%w: payment without its ends", ErrCorrupt)
		}
		g.Payments = append(g.Payments, lethe.Arc{Source: source, Target: target})
		return nil
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
func addNode(g *lethe.Snapshot, positions map[lethe.Pseudonym]uint32, pseudonym, value []byte) error {
	if len(pseudonym) != pseudonymBytes {
		return fmt.Errorf("%w: row under a key of %d bytes", ErrCorrupt, len(pseudonym))
	}
	r, err := decodeRow(value)
	if err != nil {
		return err
	}
	if len(r.features) != g.FeatureCount {
		return fmt.Errorf("%w: row of %d features, want %d", ErrCorrupt, len(r.features), g.FeatureCount)
	}
	p := lethe.Pseudonym(pseudonym)
	positions[p] = uint32(len(g.Nodes))
	g.Nodes = append(g.Nodes, lethe.SnapshotNode{Pseudonym: p, ID: r.id})
	g.Features = append(g.Features, r.features...)
	return nil
}

// encodeAssigned is a node's label and shard, which are kept apart from its row
// so that settling does not write the rows again.
func encodeAssigned(label lethe.Label, shard lethe.ShardID) []byte {
	return binary.BigEndian.AppendUint32([]byte{byte(label)}, uint32(shard))
}

func decodeAssigned(value []byte) (lethe.Label, lethe.ShardID, error) {
	c := cursorOver(value)
	label, shard := lethe.Label(c.Uint8()), lethe.ShardID(c.Uint32())
	return label, shard, c.close("assignment")
}

// readAssigned fills in the labels of a settled snapshot and returns the shard
// of every node.
func (s *Store) readAssigned(g *lethe.Snapshot) ([]lethe.ShardID, error) {
	store, err := s.stores.get(g.Timestep)
	if err != nil {
		return nil, err
	}
	shards := make([]lethe.ShardID, 0, len(g.Nodes))
	err = store.Scan([]byte{kindAssigned}, func(key, value []byte) error {
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

// hasPayment reports whether a closed timestep's graph holds the payment.
func (s *Store) hasPayment(t lethe.Timestep, source, target lethe.Pseudonym) (bool, error) {
	if s.info(t).State < lethe.Closed {
		return false, nil
	}
	store, err := s.stores.get(t)
	if err != nil {
		return false, err
	}
	_, found, err := store.Get(edgeKey(source, target))
	return found, err
}

// settledLabel returns the label that a settled snapshot holds.
func (s *Store) settledLabel(t lethe.Timestep, p lethe.Pseudonym) (bool, lethe.Label, error) {
	if s.info(t).State < lethe.Settled {
		return false, lethe.Unknown, nil
	}
	store, err := s.stores.get(t)
	if err != nil {
		return false, lethe.Unknown, err
	}
	value, found, err := store.Get(pseudonymKey(kindAssigned, p))
	if err != nil || !found {
		return false, lethe.Unknown, err
	}
	label, _, err := decodeAssigned(value)
	return true, label, err
}
