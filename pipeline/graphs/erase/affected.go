package erase

import (
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/partition/repair"
	"lethe/pipeline/graphs/cutting"
	"lethe/snapshot"
)

// affected returns, for each of several requests, the shards whose slices change, ascending. A request is the data
// that it deletes; the timestep is cut with all data, without that of all requests, and without that of each. A change
// by several requests together, but by none alone, belongs to all. A timestep that is not settled has no slices.
func affected(
	c cutting.Cut, content *snapshot.Content, requests []lethe.Removal, scope lethe.Scope,
) ([][]lethe.ShardID, error) {
	all := together(requests)
	if content.Assignment == nil || all.IsNothing() {
		return make([][]lethe.ShardID, len(requests)), nil
	}
	// With all data, without that of all requests, and without that of each request that is not all.
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
	working := cutting.SideBySide()
	for i, gone := range cuts {
		working.Go(func() (err error) {
			digests[i], err = c.Digests(content.Without(gone))
			return err
		})
	}
	if err := working.Wait(); err != nil {
		return nil, err
	}
	differing := func(i int) []lethe.ShardID { return differing(digests[0], digests[i], content, cuts[i], scope) }
	alone := make([][]lethe.ShardID, len(requests))
	for i := range requests {
		alone[i] = differing(place[i])
	}
	return shared(differing(1), alone, requests), nil
}

// shared assigns the shards that several requests change together. alone are the shards that each would change by
// itself.
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

// differing returns the shards whose slices change. At scope shard these are the shards of deleted nodes and of both
// ends of deleted payments only.
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

// joins returns for each of several requests the pairs of transactions that lose their edge, and the stubs that are
// deleted everywhere. At scope shard stubs for transactions stay.
func joins(
	c cutting.Cut, s *lethe.Snapshot, requests []lethe.Removal, scope lethe.Scope,
) []deletions.Gone {
	out, all := make([]deletions.Gone, len(requests)), together(requests)
	takes := func(r lethe.Removal, p lethe.PseudonymPair) bool {
		return r.Nodes[p.Source] || r.Nodes[p.Target] || r.Payments[p]
	}
	stays := make(map[lethe.PseudonymPair]bool)
	for _, payment := range s.Payments {
		if p := s.Pair(payment); !takes(all, p) {
			stays[p], stays[lethe.PseudonymPair{Source: p.Target, Target: p.Source}] = true, true
		}
	}
	for _, payment := range s.Payments {
		p := s.Pair(payment)
		if stays[p] || !takes(all, p) {
			continue
		}
		for i, own := range requests {
			stubsAt{c.Repair, s.Timestep, &out[i]}.with(own, all, p, scope)
		}
	}
	return out
}

// stubsAt is the deleted pairs and stubs of a timestep.
type stubsAt struct {
	repair   repair.Config
	timestep lethe.Timestep
	gone     *deletions.Gone
}

// with adds the pair and stubs of a payment that a request deletes.
func (to stubsAt) with(own, all lethe.Removal, p lethe.PseudonymPair, scope lethe.Scope) {
	stub := func(list *[]deletions.GoneStub, owner, missing lethe.Pseudonym) {
		if lambda, identifies := to.repair.StubFor(to.timestep, owner, missing); identifies {
			*list = append(*list, deletions.GoneStub{Owner: owner, Lambda: lambda})
		}
	}
	source, target := own.Nodes[p.Source], own.Nodes[p.Target]
	switch gone := to.gone; {
	case all.Nodes[p.Source] && all.Nodes[p.Target]:
	case (source || target) && scope == lethe.ScopeShard:
	case source:
		stub(&gone.Stubs, p.Target, p.Source)
	case target:
		stub(&gone.Stubs, p.Source, p.Target)
	case own.Payments[p] && !all.Nodes[p.Source] && !all.Nodes[p.Target]:
		gone.Pairs = append(gone.Pairs, p)
		stub(&gone.PairStubs, p.Source, p.Target)
		stub(&gone.PairStubs, p.Target, p.Source)
	}
}
