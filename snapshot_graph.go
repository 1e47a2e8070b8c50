package lethe

import (
	"cmp"
	"fmt"
	"slices"
)

// Edge is an undirected edge between the nodes at two positions, A < B.
type Edge struct{ A, B uint32 }

// Compare orders edges by A, then by B.
func (e Edge) Compare(f Edge) int {
	return cmp.Or(cmp.Compare(e.A, f.A), cmp.Compare(e.B, f.B))
}

// Arc is a directed edge from the node at one position to that at another.
type Arc struct{ Source, Target uint32 }

// Compare orders arcs by their source, then by their target.
func (a Arc) Compare(b Arc) int {
	return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Target, b.Target))
}

// Edge returns the arc without its direction.
func (a Arc) Edge() Edge { return Edge{min(a.Source, a.Target), max(a.Source, a.Target)} }

// SnapshotNode is one transaction of a snapshot.
type SnapshotNode struct {
	Pseudonym Pseudonym
	ID        TransactionID
	Label     Label
}

// Snapshot is the graph of one timestep in canonical order: Nodes ascending by pseudonym,
// Payments ascending. Its content does not depend on the order in which records arrived.
type Snapshot struct {
	Timestep Timestep
	Revision Revision
	// FeatureCount is the number of features of every node.
	FeatureCount int
	Nodes        []SnapshotNode
	// Features is row-major: len(Nodes) rows of FeatureCount.
	Features []float32
	// Payments join positions of Nodes.
	Payments []Arc
}

// Row returns the features of node i. It aliases the snapshot.
func (s *Snapshot) Row(i int) []float32 {
	return s.Features[i*s.FeatureCount : (i+1)*s.FeatureCount]
}

// Find returns the position of a pseudonym.
func (s *Snapshot) Find(p Pseudonym) (int, bool) {
	return slices.BinarySearchFunc(s.Nodes, p, func(n SnapshotNode, q Pseudonym) int {
		return n.Pseudonym.Compare(q)
	})
}

// Undirected returns the simple undirected graph of the payments: A < B, ascending, each pair
// once regardless of the direction and number of payments.
func (s *Snapshot) Undirected() []Edge {
	edges := make([]Edge, 0, len(s.Payments))
	for _, p := range s.Payments {
		edges = append(edges, p.Edge())
	}
	slices.SortFunc(edges, Edge.Compare)
	return slices.Compact(edges)
}

// PseudonymPair identifies a payment, from Source to Target.
type PseudonymPair struct{ Source, Target Pseudonym }

// Removal is the data that an erasure removes from snapshots: nodes, payments, and features of remaining nodes, which
// become 0.
type Removal struct {
	Nodes    map[Pseudonym]bool
	Payments map[PseudonymPair]bool
	Features map[Pseudonym]Columns
}

// IsNothing reports whether the removal is empty.
func (r Removal) IsNothing() bool { return len(r.Nodes)+len(r.Payments)+len(r.Features) == 0 }

// Redact adds features of a node to the removal.
func (r Removal) Redact(p Pseudonym, columns Columns) {
	if before, redacted := r.Features[p]; redacted {
		columns = before.With(columns)
	}
	r.Features[p] = columns
}

// Without returns a copy without the nodes for which drop is true and without payments that name
// them. The revision is kept.
func (s *Snapshot) Without(drop func(Pseudonym) bool) *Snapshot {
	return s.filtered(drop, func(PseudonymPair) bool { return false })
}

// Removed returns a copy without the removed nodes, the removed payments and payments that name a
// removed node, and with 0 for removed features. The revision is kept.
func (s *Snapshot) Removed(r Removal) *Snapshot {
	out := s.filtered(func(p Pseudonym) bool { return r.Nodes[p] }, func(p PseudonymPair) bool { return r.Payments[p] })
	for p, columns := range r.Features {
		if node, found := out.Find(p); found {
			zeroed, _ := columns.Zeroed(out.Row(node))
			copy(out.Row(node), zeroed)
		}
	}
	return out
}

func (s *Snapshot) filtered(drop func(Pseudonym) bool, dropPayment func(PseudonymPair) bool) *Snapshot {
	out := &Snapshot{Timestep: s.Timestep, Revision: s.Revision, FeatureCount: s.FeatureCount}
	position := make([]int64, len(s.Nodes))
	for i, n := range s.Nodes {
		if drop(n.Pseudonym) {
			position[i] = -1
			continue
		}
		position[i] = int64(len(out.Nodes))
		out.Nodes = append(out.Nodes, n)
		out.Features = append(out.Features, s.Row(i)...)
	}
	for _, p := range s.Payments {
		source, target := position[p.Source], position[p.Target]
		if source >= 0 && target >= 0 && !dropPayment(s.Pair(p)) {
			out.Payments = append(out.Payments, Arc{uint32(source), uint32(target)})
		}
	}
	return out
}

// Pair returns the pseudonyms of a payment's ends.
func (s *Snapshot) Pair(p Arc) PseudonymPair {
	return PseudonymPair{s.Nodes[p.Source].Pseudonym, s.Nodes[p.Target].Pseudonym}
}

// Validate checks the canonical order and the bounds of every position.
func (s *Snapshot) Validate() error {
	if got, want := len(s.Features), len(s.Nodes)*s.FeatureCount; got != want {
		return fmt.Errorf("snapshot %d: %d feature values, want %d", s.Timestep, got, want)
	}
	for i, n := range s.Nodes {
		if n.Label >= NumLabels {
			return fmt.Errorf("snapshot %d: node %d has label %d, must be below %d", s.Timestep, i, n.Label, NumLabels)
		}
	}
	for i := 1; i < len(s.Nodes); i++ {
		if s.Nodes[i-1].Pseudonym.Compare(s.Nodes[i].Pseudonym) >= 0 {
			return fmt.Errorf("snapshot %d: nodes %d and %d are not ascending", s.Timestep, i-1, i)
		}
	}
	for i, p := range s.Payments {
		if int(p.Source) >= len(s.Nodes) || int(p.Target) >= len(s.Nodes) || p.Source == p.Target {
			return fmt.Errorf("snapshot %d: payment %d joins %d and %d of %d nodes",
				s.Timestep, i, p.Source, p.Target, len(s.Nodes))
		}
		if i > 0 && s.Payments[i-1].Compare(p) >= 0 {
			return fmt.Errorf("snapshot %d: payments %d and %d are not ascending", s.Timestep, i-1, i)
		}
	}
	return nil
}
