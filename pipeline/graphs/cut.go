package graphs

import (
	"fmt"
	"maps"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"lethe"
	"lethe/canonical"
	"lethe/deletions"
	"lethe/deletions/coordinator"
	"lethe/partition/graph"
	"lethe/partition/repair"
	"lethe/snapshot"
)

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

// encoded returns the slices of some shards as bytes.
func (c cut) encoded(content *snapshot.Content, shards []lethe.ShardID) ([][]byte, error) {
	out := make([][]byte, len(shards))
	err := sideBySide(len(shards), func(i int) error {
		s, err := repair.OneSlice(
			content.Snapshot, content.Info.Previous, content.Assignment, c.shards, shards[i], c.repair)
		if err != nil {
			return fmt.Errorf("slice of shard %d: %w", shards[i], err)
		}
		out[i] = canonical.EncodeSlice(s)
		return nil
	})
	return out, err
}

// sideBySide calls fn for all numbers below n, as many at a time as there are processors.
func sideBySide(n int, fn func(i int) error) error {
	group := newSideBySide()
	for i := range n {
		group.Go(func() error { return fn(i) })
	}
	return group.Wait()
}

// newSideBySide runs as many functions at a time as there are processors.
func newSideBySide() *errgroup.Group {
	group := new(errgroup.Group)
	group.SetLimit(runtime.GOMAXPROCS(0))
	return group
}

// changed returns, for each of several requests, the shards whose slice gets another
// digest by it, ascending. A request is what it takes out; the timestep is cut as it is,
// without what all take out, and without that of each. What changes by several requests
// together but by none alone is of all of them. A timestep that is not settled has no
// slices.
func (c cut) changed(
	content *snapshot.Content, requests []lethe.Removal, scope lethe.Scope,
) ([][]lethe.ShardID, error) {
	all := together(requests)
	if content.Assignment == nil || all.IsNothing() {
		return make([][]lethe.ShardID, len(requests)), nil
	}
	// As it is, without all, and without what each request takes that is not all.
	cuts := []lethe.Removal{{}, all}
	place := make([]int, len(requests))
	for i, own := range requests {
		switch {
		case own.IsNothing():
		case isAll(own, all):
			place[i] = 1
		default:
			place[i] = len(cuts)
			cuts = append(cuts, own)
		}
	}
	digests := make([][]lethe.Digest, len(cuts))
	err := sideBySide(len(cuts), func(i int) (err error) {
		rest, kept := without(content, cuts[i])
		digests[i], err = c.digests(rest, content.Info.Previous, kept)
		return err
	})
	if err != nil {
		return nil, err
	}
	differing := func(i int) []lethe.ShardID { return differing(digests[0], digests[i], content, cuts[i], scope) }
	alone := make([][]lethe.ShardID, len(requests))
	for i := range requests {
		alone[i] = differing(place[i])
	}
	return shared(differing(1), alone, requests), nil
}

// together is what several requests take out.
func together(requests []lethe.Removal) lethe.Removal {
	all := lethe.Removal{
		Nodes: make(map[lethe.Pseudonym]bool), Payments: make(map[lethe.PseudonymPair]bool),
		Features: make(map[lethe.Pseudonym]lethe.Columns),
	}
	for _, own := range requests {
		maps.Copy(all.Nodes, own.Nodes)
		maps.Copy(all.Payments, own.Payments)
		for p, columns := range own.Features {
			all.Redact(p, columns)
		}
	}
	return all
}

// isAll reports whether a request takes out what all do.
func isAll(own, all lethe.Removal) bool {
	return maps.Equal(own.Nodes, all.Nodes) && maps.Equal(own.Payments, all.Payments) &&
		maps.EqualFunc(own.Features, all.Features, slices.Equal[lethe.Columns])
}

// shared says whose the shards are that several requests change together. alone are
// those that each would change by itself.
func shared(together []lethe.ShardID, alone [][]lethe.ShardID, requests []lethe.Removal) [][]lethe.ShardID {
	out := make([][]lethe.ShardID, len(requests))
	for _, shard := range together {
		changesIt := func(own []lethe.ShardID) bool { return slices.Contains(own, shard) }
		nobodys := !slices.ContainsFunc(alone, changesIt)
		for i, own := range requests {
			if changesIt(alone[i]) || nobodys && !own.IsNothing() {
				out[i] = append(out[i], shard)
			}
		}
	}
	return out
}

// without returns a timestep without what is taken out, and the shards of the nodes that
// stay.
func without(content *snapshot.Content, gone lethe.Removal) (*lethe.Snapshot, graph.Assignment) {
	var kept graph.Assignment
	for i, shard := range content.Assignment {
		if !gone.Nodes[content.Snapshot.Nodes[i].Pseudonym] {
			kept = append(kept, shard)
		}
	}
	return content.Snapshot.Removed(gone), kept
}

// differing returns the shards whose slice has another digest without what is taken out than
// with it. Scope shard takes only the own shards of these: those of the nodes, and of both
// ends of a payment.
func differing(
	with, without []lethe.Digest, content *snapshot.Content, gone lethe.Removal, scope lethe.Scope,
) (out []lethe.ShardID) {
	own := make(map[lethe.ShardID]bool)
	for i, shard := range content.Assignment {
		p := content.Snapshot.Nodes[i].Pseudonym
		if _, redacted := gone.Features[p]; gone.Nodes[p] || redacted {
			own[shard] = true
		}
	}
	for _, p := range content.Snapshot.Payments {
		if gone.Payments[content.Snapshot.Pair(p)] {
			own[content.Assignment[p.Source]], own[content.Assignment[p.Target]] = true, true
		}
	}
	for i := range with {
		shard := lethe.ShardID(i)
		if with[i] != without[i] && (own[shard] || scope != lethe.ScopeShard) {
			out = append(out, shard)
		}
	}
	return out
}

// keptStubs counts the stubs that stand for the nodes in slices that are not replaced, by
// shard: one for every edge between such a slice and a node that goes.
func keptStubs(content *snapshot.Content, nodes []int, replaced []lethe.ShardID) (out []deletions.KeptStubs) {
	if content.Assignment == nil {
		return nil
	}
	counts := make(map[lethe.ShardID]int)
	note := func(goes, stays uint32) {
		_, is := slices.BinarySearch(nodes, int(goes))
		_, both := slices.BinarySearch(nodes, int(stays))
		shard := content.Assignment[stays]
		if is && !both && shard != content.Assignment[goes] && !slices.Contains(replaced, shard) {
			counts[shard]++
		}
	}
	for _, pair := range content.Snapshot.Undirected() {
		note(pair.A, pair.B)
		note(pair.B, pair.A)
	}
	for shard, n := range counts {
		ref := deletions.SliceRef{Timestep: content.Snapshot.Timestep, Shard: shard}
		out = append(out, deletions.KeptStubs{SliceRef: ref, Stubs: n})
	}
	slices.SortFunc(out, func(a, b deletions.KeptStubs) int { return a.Compare(b.SliceRef) })
	return out
}

// count tells what goes of a timestep that has so many edges between shards.
func count(content *snapshot.Content, gone lethe.Removal, cutBefore int) coordinator.StepPlan {
	s := content.Snapshot
	step := coordinator.StepPlan{Replaced: coordinator.Replaced{Timestep: s.Timestep}}
	for _, n := range s.Nodes {
		if gone.Nodes[n.Pseudonym] && n.Label != lethe.Unknown {
			step.Labels++
		}
	}
	rest, kept := without(content, gone)
	step.Payments = len(s.Payments) - len(rest.Payments)
	step.Stubs = cutBefore - cutEdges(rest, kept)
	return step
}

// cutEdges counts the edges between shards, of which there are none before the timestep is settled.
func cutEdges(s *lethe.Snapshot, a graph.Assignment) (n int) {
	if a == nil {
		return 0
	}
	for _, pair := range s.Undirected() {
		if a[pair.A] != a[pair.B] {
			n++
		}
	}
	return n
}
