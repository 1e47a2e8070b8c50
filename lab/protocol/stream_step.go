package protocol

import (
	"slices"

	"lethe"
	"lethe/dataset"
)

// SnapshotOf returns a timestep of a data set as the pipeline would build it,
// under pseudonyms of the zero secret: payments that are repeated, join a
// transaction to itself or lack an end are left out.
func SnapshotOf(secret lethe.Secret, step *dataset.Step, featureCount int) *lethe.Snapshot {
	s := &lethe.Snapshot{Timestep: step.Timestep, Revision: 1, FeatureCount: featureCount}
	labels := make(map[lethe.TransactionID]lethe.Label, len(step.Labels))
	for _, l := range step.Labels {
		labels[l.ID] = l.Label
	}
	row := make(map[lethe.Pseudonym]int, len(step.Transactions))
	for i, t := range step.Transactions {
		p := secret.Pseudonym(t.ID)
		row[p] = i
		s.Nodes = append(s.Nodes, lethe.SnapshotNode{Pseudonym: p, ID: t.ID, Label: labels[t.ID]})
	}
	slices.SortFunc(s.Nodes, func(a, b lethe.SnapshotNode) int { return a.Pseudonym.Compare(b.Pseudonym) })
	position := make(map[lethe.TransactionID]uint32, len(s.Nodes))
	for i, n := range s.Nodes {
		position[n.ID] = uint32(i)
		s.Features = append(s.Features, step.Transactions[row[n.Pseudonym]].Features...)
	}
	for _, p := range step.Payments {
		a, knownA := position[p.Source]
		b, knownB := position[p.Target]
		if knownA && knownB && a != b {
			s.Payments = append(s.Payments, lethe.Arc{Source: a, Target: b})
		}
	}
	slices.SortFunc(s.Payments, lethe.Arc.Compare)
	s.Payments = slices.Compact(s.Payments)
	return s
}
