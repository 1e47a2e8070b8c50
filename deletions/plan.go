package deletions

import (
	"cmp"
	"fmt"
	"slices"

	"lethe"
)

// Plan is what an erasure changes in one timestep.
type Plan struct {
	Timestep lethe.Timestep
	Scope    lethe.Scope
	// Nodes are the positions that go, ascending.
	Nodes []int
	// Payments are those that name one of them, directed, by position,
	// ascending: each has a record in a topic that needs a tombstone.
	Payments []lethe.Arc
	// Own are the shards that hold the nodes, ascending.
	Own []lethe.ShardID
	// Affected are the shards whose slice of this timestep is replaced,
	// ascending.
	Affected []lethe.ShardID
	// CutEdges is how many undirected edges between shards go with the nodes,
	// each of which had a stub at both ends.
	CutEdges int
	// Repartition: the timestep is partitioned afresh. Affected then reaches up
	// to the highest shard in use; the caller, who knows how many shards there
	// are, replaces the slices of empty ones too.
	Repartition bool
}

// PlanErasure says what removing the nodes at these positions changes at a
// scope. The assignment gives each node's shard by position; it is nil for a
// snapshot that is not settled, which has no slices. Nodes may be given in any
// order and repeat.
//
// Scope shard replaces the slices of the nodes' own shards; stubs also those of
// every shard where a neighbour stays, because its stub goes; partition all.
func PlanErasure(s *lethe.Snapshot, assignment []lethe.ShardID, nodes []int, scope lethe.Scope) (Plan, error) {
	if !scope.Valid() {
		return Plan{}, fmt.Errorf("timestep %d: scope is none of shard, stubs, partition", s.Timestep)
	}
	if assignment != nil && len(assignment) != len(s.Nodes) {
		return Plan{}, fmt.Errorf("timestep %d: assignment of %d nodes, the snapshot has %d", s.Timestep, len(assignment), len(s.Nodes))
	}
	gone := make([]bool, len(s.Nodes))
	for i, node := range nodes {
		if node < 0 || node >= len(s.Nodes) {
			return Plan{}, fmt.Errorf("timestep %d: position %d of entry %d is not in 0..%d", s.Timestep, node, i, len(s.Nodes)-1)
		}
		gone[node] = true
	}
	p := Plan{Timestep: s.Timestep, Scope: scope, Nodes: sortedSet(slices.Clone(nodes))}
	for _, a := range s.Payments {
		if gone[a.Source] || gone[a.Target] {
			p.Payments = append(p.Payments, a)
		}
	}
	if assignment == nil || len(nodes) == 0 {
		return p, nil
	}
	for _, node := range p.Nodes {
		p.Own = append(p.Own, assignment[node])
	}
	p.Own = sortedSet(p.Own)
	p.reach(assignment)
	return p, nil
}

// reach fills Affected, CutEdges and Repartition.
func (p *Plan) reach(assignment []lethe.ShardID) {
	p.Affected = slices.Clone(p.Own)
	var cut []lethe.Edge
	for _, a := range p.Payments {
		source, target := assignment[a.Source], assignment[a.Target]
		if source == target {
			continue
		}
		cut = append(cut, a.Edge())
		if p.Scope == lethe.ScopeStubs {
			p.Affected = append(p.Affected, source, target)
		}
	}
	slices.SortFunc(cut, lethe.Edge.Compare)
	p.CutEdges = len(slices.Compact(cut))
	if p.Scope == lethe.ScopePartition {
		p.Repartition = true
		for shard := range slices.Max(assignment) + 1 {
			p.Affected = append(p.Affected, shard)
		}
	}
	p.Affected = sortedSet(p.Affected)
}

// Slices names the slices that are replaced.
func (p *Plan) Slices() []SliceRef {
	out := make([]SliceRef, len(p.Affected))
	for i, shard := range p.Affected {
		out[i] = SliceRef{p.Timestep, shard}
	}
	return out
}

// Reach sums up the plans of one request, in the order in which a ledger entry
// lists them: timesteps, slices and the shards that have to train again.
func Reach(plans []Plan) (timesteps []lethe.Timestep, replaced []SliceRef, shards []lethe.ShardID) {
	for i := range plans {
		timesteps = append(timesteps, plans[i].Timestep)
		replaced = append(replaced, plans[i].Slices()...)
		shards = append(shards, plans[i].Affected...)
	}
	slices.SortFunc(replaced, SliceRef.Compare)
	return sortedSet(timesteps), slices.Compact(replaced), sortedSet(shards)
}

func sortedSet[T cmp.Ordered](list []T) []T {
	slices.Sort(list)
	return slices.Compact(list)
}
