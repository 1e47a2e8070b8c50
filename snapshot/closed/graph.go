package closed

import (
	"errors"
	"fmt"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/snapshot/stored"
)

// Graph is the store of one closed timestep.
type Graph struct {
	*swapstore.Store
	timestep lethe.Timestep
}

// Read returns the snapshot without labels. Error: stored.ErrCorrupt.
func (s Graph) Read() (*lethe.Snapshot, error) {
	d, err := s.Describe()
	if err != nil {
		return nil, err
	}
	g := &lethe.Snapshot{Timestep: s.timestep, Revision: d.Revision, FeatureCount: d.FeatureCount}
	const plausible = 1 << 26 // features for which room is made before they are read
	if d.Nodes >= 0 && d.Nodes <= plausible/max(1, d.FeatureCount) {
		g.Nodes = make([]lethe.SnapshotNode, 0, d.Nodes)
		g.Features = make([]float32, 0, d.Nodes*d.FeatureCount)
	}
	err = s.Scan([]byte{kindNode}, func(key, value []byte) error {
		about, err := stored.Pseudonyms(key, 1, 1)
		if err != nil {
			return err
		}
		return stored.AddNode(g, about[0], value)
	})
	if err != nil {
		return nil, err
	}
	err = s.Scan([]byte{kindEdge}, func(key, _ []byte) error {
		ends, err := stored.Pseudonyms(key, 1, 2)
		if err == nil && !stored.AddPayment(g, ends[0], ends[1]) {
			err = fmt.Errorf("%w: payment without its ends", stored.ErrCorrupt)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := g.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", stored.ErrCorrupt, err)
	}
	return g, nil
}

// ReadAssigned fills in the labels of a settled snapshot and returns the shard
// of every node. Error: stored.ErrCorrupt.
func (s Graph) ReadAssigned(g *lethe.Snapshot) ([]lethe.ShardID, error) {
	shards := make([]lethe.ShardID, 0, len(g.Nodes))
	err := s.Scan([]byte{kindAssigned}, func(key, value []byte) error {
		i := len(shards)
		if i == len(g.Nodes) || string(key[1:]) != string(g.Nodes[i].Pseudonym[:]) {
			return fmt.Errorf("%w: assignment %d is not that of node %d", stored.ErrCorrupt, i, i)
		}
		label, shard, err := decodeAssigned(value)
		g.Nodes[i].Label = label
		shards = append(shards, shard)
		return err
	})
	if err == nil && len(shards) != len(g.Nodes) {
		err = fmt.Errorf("%w: %d assignments of %d nodes", stored.ErrCorrupt, len(shards), len(g.Nodes))
	}
	return shards, err
}

// Row returns a transaction's row as it is stored, and whether there is one.
func (s Graph) Row(p lethe.Pseudonym) (value []byte, found bool, err error) {
	return s.Get(stored.Key(kindNode, p))
}

// HasPayment reports whether a payment is in the graph.
func (s Graph) HasPayment(source, target lethe.Pseudonym) (bool, error) {
	_, found, err := s.Get(PaymentKey(source, target))
	return found, err
}

// PaymentKey is the key of a payment in the store: what a search of its files can look for.
func PaymentKey(source, target lethe.Pseudonym) []byte { return stored.Key(kindEdge, source, target) }

// Label returns a transaction's label and whether it has been given one, which may be lethe.Unknown. Only of a settled
// timestep it means anything.
func (s Graph) Label(p lethe.Pseudonym) (label lethe.Label, found bool, err error) {
	value, found, err := s.Get(stored.Key(kindAssigned, p))
	if err != nil || !found {
		return lethe.Unknown, false, err
	}
	label, _, err = decodeAssigned(value)
	return label, true, err
}

// EachName calls node for every transaction and then payment for every payment, and reads no features.
func (s Graph) EachName(node func(lethe.TransactionID), payment func(source, target lethe.TransactionID)) error {
	ids := make(map[lethe.Pseudonym]lethe.TransactionID)
	err := s.Scan([]byte{kindNode}, func(key, value []byte) error {
		about, err := stored.Pseudonyms(key, 1, 1)
		c := stored.Over(value)
		id := lethe.TransactionID(c.Text())
		if err = errors.Join(err, c.Err()); err == nil {
			ids[about[0]] = id
			node(id)
		}
		return err
	})
	if err != nil {
		return err
	}
	return s.Scan([]byte{kindEdge}, func(key, _ []byte) error {
		ends, err := stored.Pseudonyms(key, 1, 2)
		if err == nil {
			payment(ids[ends[0]], ids[ends[1]])
		}
		return err
	})
}
