package graphs

import (
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/canonical"
	"lethe/deletions/coordinator"
	"lethe/deletions/scan"
	"lethe/internal/sortedset"
	"lethe/partition/graph"
	"lethe/partition/repair"
	"lethe/snapshot"
)

// Plan implements coordinator.Graphs.
func (e *eraser) Plan(targets []lethe.Target, scope lethe.Scope) (coordinator.Plan, error) {
	var plan coordinator.Plan
	located, err := e.store.Locate(targets)
	if err != nil {
		return plan, err
	}
	erased := make(map[lethe.Pseudonym]bool)
	gone := make(map[lethe.Timestep][]lethe.Pseudonym)
	for _, l := range located {
		erased[l.Pseudonym] = true
		switch {
		case !l.Known:
		case l.State == lethe.Open:
			prints, err := scan.RowFingerprints(e.secret, l.Features)
			if err != nil {
				return plan, err
			}
			plan.Fingerprints = append(plan.Fingerprints, prints...)
		default:
			gone[l.Timestep] = append(gone[l.Timestep], l.Pseudonym)
		}
	}
	for _, t := range slices.Sorted(maps.Keys(gone)) {
		if err := e.planTimestep(&plan, t, gone[t], scope); err != nil {
			return plan, fmt.Errorf("timestep %d: %w", t, err)
		}
	}
	return plan, e.leaveOutShared(&plan, erased)
}

// planTimestep adds what the erasure will change in a closed timestep.
func (e *eraser) planTimestep(
	plan *coordinator.Plan, t lethe.Timestep, gone []lethe.Pseudonym, scope lethe.Scope,
) error {
	content, err := e.store.Load(t)
	if err != nil {
		return err
	}
	nodes := positionsOf(content.Snapshot, gone)
	prints, notSearched, err := scan.NodeFingerprints(e.secret, content.Snapshot, nodes)
	if err != nil {
		return err
	}
	plan.Fingerprints = append(plan.Fingerprints, prints...)
	plan.NotSearched = sortedset.Add(plan.NotSearched, notSearched...)
	step := count(content, nodes)
	if step.Shards, err = e.publisher.cut.changed(content, nodes, scope); err != nil {
		return err
	}
	plan.Steps = append(plan.Steps, step)
	return nil
}

// count tells what goes with the nodes.
func count(content *snapshot.Content, nodes []int) coordinator.StepPlan {
	s := content.Snapshot
	step := coordinator.StepPlan{Replaced: coordinator.Replaced{Timestep: s.Timestep}}
	for _, node := range nodes {
		if s.Nodes[node].Label != lethe.Unknown {
			step.Labels++
		}
	}
	goes := func(node uint32) bool {
		_, found := slices.BinarySearch(nodes, int(node))
		return found
	}
	for _, p := range s.Payments {
		if goes(p.Source) || goes(p.Target) {
			step.Payments++
		}
	}
	if content.Assignment == nil {
		return step
	}
	for _, pair := range s.Undirected() {
		if (goes(pair.A) || goes(pair.B)) && content.Assignment[pair.A] != content.Assignment[pair.B] {
			step.Stubs++
		}
	}
	return step
}

// cut is how a settled timestep is cut into slices.
type cut struct {
	shards int
	repair repair.Config
}

// digests returns the digest of every shard's slice.
func (c cut) digests(s *lethe.Snapshot, previous lethe.Timestep, a graph.Assignment) ([]lethe.Digest, error) {
	list, err := repair.Slices(s, previous, a, c.shards, c.repair)
	if err != nil {
		return nil, err
	}
	out := make([]lethe.Digest, len(list))
	for i, slice := range list {
		out[i] = canonical.DigestSlice(slice)
	}
	return out, nil
}

// changed returns the shards whose slice has another digest without the nodes,
// ascending: the timestep is cut with them and without, under the same
// assignment. Scope shard takes only the nodes' own shards of these. A timestep
// that is not settled has no slices.
func (c cut) changed(content *snapshot.Content, nodes []int, scope lethe.Scope) ([]lethe.ShardID, error) {
	if content.Assignment == nil || len(nodes) == 0 {
		return nil, nil
	}
	own := make(map[lethe.ShardID]bool)
	gone := make(map[lethe.Pseudonym]bool)
	for _, node := range nodes {
		own[content.Assignment[node]] = true
		gone[content.Snapshot.Nodes[node].Pseudonym] = true
	}
	var kept graph.Assignment
	for i, n := range content.Snapshot.Nodes {
		if !gone[n.Pseudonym] {
			kept = append(kept, content.Assignment[i])
		}
	}
	with, err := c.digests(content.Snapshot, content.Info.Previous, content.Assignment)
	if err != nil {
		return nil, err
	}
	rest := content.Snapshot.Without(func(p lethe.Pseudonym) bool { return gone[p] })
	without, err := c.digests(rest, content.Info.Previous, kept)
	if err != nil {
		return nil, err
	}
	var out []lethe.ShardID
	for i := range with {
		shard := lethe.ShardID(i)
		if with[i] != without[i] && (own[shard] || scope != lethe.ScopeShard) {
			out = append(out, shard)
		}
	}
	return out, nil
}
