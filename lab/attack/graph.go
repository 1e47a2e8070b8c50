package attack

import (
	"slices"

	"lethe"
	"lethe/dataset"
)

// snapshotOf builds the canonical graph of a step. Payments with an end that is
// not in the step are left out, as when a timestep closes; payments that touch a
// transaction of isolated are left out too.
func snapshotOf(
	secret lethe.Secret, step *dataset.Step, featureCount int, isolated map[lethe.TransactionID]bool,
) *lethe.Snapshot {
	out := &lethe.Snapshot{Timestep: step.Timestep, FeatureCount: featureCount}
	labels := make(map[lethe.TransactionID]lethe.Label, len(step.Labels))
	for _, l := range step.Labels {
		labels[l.ID] = l.Label
	}
	features := make(map[lethe.TransactionID][]float32, len(step.Transactions))
	for _, tx := range step.Transactions {
		features[tx.ID] = tx.Features
		out.Nodes = append(out.Nodes, lethe.SnapshotNode{Pseudonym: secret.Pseudonym(tx.ID), ID: tx.ID, Label: labels[tx.ID]})
	}
	slices.SortFunc(out.Nodes, func(a, b lethe.SnapshotNode) int { return a.Pseudonym.Compare(b.Pseudonym) })
	position := make(map[lethe.TransactionID]uint32, len(out.Nodes))
	for i, n := range out.Nodes {
		position[n.ID] = uint32(i)
		out.Features = append(out.Features, features[n.ID]...)
	}
	for _, p := range step.Payments {
		a, knownA := position[p.Source]
		b, knownB := position[p.Target]
		if knownA && knownB && a != b && !isolated[p.Source] && !isolated[p.Target] {
			out.Payments = append(out.Payments, lethe.Arc{Source: a, Target: b})
		}
	}
	slices.SortFunc(out.Payments, lethe.Arc.Compare)
	out.Payments = slices.Compact(out.Payments)
	return out
}

// graphs builds the graph of every step.
func graphs(secret lethe.Secret, s *dataset.Stream, isolated map[lethe.TransactionID]bool) []*lethe.Snapshot {
	out := make([]*lethe.Snapshot, len(s.Steps))
	for i := range s.Steps {
		out[i] = snapshotOf(secret, &s.Steps[i], s.FeatureCount, isolated)
	}
	return out
}
