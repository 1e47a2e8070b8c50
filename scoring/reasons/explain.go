package reasons

import (
	"cmp"
	"math"
	"slices"

	"lethe"
	"lethe/partition/onehop"
	"lethe/trainer"
)

// Explainer builds the components of records.
type Explainer struct {
	// Top is the maximum number of reasons of a component.
	Top int
	// OneHop is the mode in which features were joined to the models' input rows.
	OneHop onehop.Mode
	// Names are those of a transaction's own features; they may be incomplete.
	Names []string
	// Named reports whether a transaction may be named. The contributions of others are added to
	// the remainder.
	Named func(lethe.SnapshotNode) bool
}

// Surroundings are the part of a graph that models used.
type Surroundings struct {
	Snapshot *lethe.Snapshot
	// Rows are the positions of its transactions, ascending, At is that of the explained one among
	// them.
	Rows []uint32
	At   int
	// Neighbours lists the neighbours of every row of the part.
	Neighbours [][]uint32
}

// Component returns what affected a component's logit. An Attribution of rows has one entry per row
// of the surroundings.
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

// pick selects the reasons with the largest contributions. Of equal ones the first is preferred.
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

// direction is the direction of payments between two transactions.
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
