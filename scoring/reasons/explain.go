package reasons

import (
	"cmp"
	"math"
	"slices"

	"lethe"
	"lethe/partition/onehop"
	"lethe/trainer"
)

// Explainer makes components of records.
type Explainer struct {
	// Top is how many reasons a component has at most.
	Top int
	// OneHop is what was joined to the rows that the models looked at.
	OneHop onehop.Mode
	// Names are those of a transaction's own features; there may be fewer.
	Names []string
	// Named reports whether a transaction may be named. What others add goes into the
	// remainder.
	Named func(lethe.SnapshotNode) bool
}

// Surroundings are the part of a graph that models looked at.
type Surroundings struct {
	Snapshot *lethe.Snapshot
	// Rows are the positions of its transactions, ascending, At is that of the explained
	// one among them.
	Rows []uint32
	At   int
	// Neighbours lists those of every row of the part.
	Neighbours [][]uint32
}

// Component says what moved a component's logit. An Attribution of rows has one per row of
// the surroundings.
func (x Explainer) Component(a *trainer.Attribution, s Surroundings) Component {
	c := Component{Logit: a.Logit, Base: a.Base}
	for column, v := range a.Features {
		r := columnOf(column, s.Snapshot.FeatureCount, x.OneHop)
		if r.Feature != nil && *r.Feature < len(x.Names) {
			r.Name = x.Names[*r.Feature]
		}
		r.Contribution = v
		c.Reasons = append(c.Reasons, r)
	}
	if len(a.Rows) > 0 {
		c.Reasons = append(c.Reasons, Reason{Code: Shape, Contribution: a.Shape})
		for k, v := range along(s.Neighbours, s.At, a.Rows) {
			r := Reason{Code: Payment, Contribution: v}
			other := s.Rows[s.Neighbours[s.At][k]]
			if node := s.Snapshot.Nodes[other]; x.Named(node) {
				r.Transaction, r.Direction = node.ID, direction(s.Snapshot, s.Rows[s.At], other)
			}
			c.Reasons = append(c.Reasons, r)
		}
	}
	c.pick(x.Top)
	return c
}

// pick keeps the reasons that moved the logit most. Of equal ones the first comes first.
func (c *Component) pick(top int) {
	all := c.Reasons
	slices.SortStableFunc(all, func(a, b Reason) int {
		return cmp.Compare(math.Abs(b.Contribution), math.Abs(a.Contribution))
	})
	c.Reasons = make([]Reason, 0, top)
	for _, r := range all {
		unnamed := r.Code == Payment && r.Transaction == ""
		if len(c.Reasons) == top || unnamed || r.Contribution == 0 {
			c.Remainder += r.Contribution
			continue
		}
		c.Reasons = append(c.Reasons, r)
	}
}

// direction is which way money flowed between two transactions.
func direction(s *lethe.Snapshot, node, other uint32) string {
	_, in := slices.BinarySearchFunc(s.Payments, lethe.Arc{Source: other, Target: node}, lethe.Arc.Compare)
	_, out := slices.BinarySearchFunc(s.Payments, lethe.Arc{Source: node, Target: other}, lethe.Arc.Compare)
	switch {
	case in && out:
		return "both"
	case in:
		return "in"
	default:
		return "out"
	}
}
