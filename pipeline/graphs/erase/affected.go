package erase

import (
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/partition/repair"
	"lethe/pipeline/graphs/cutting"
	"lethe/snapshot"
)

// affected returns, for each of several requests, the shards whose slice gets another
// digest by it, ascending. A request is what it takes out; the timestep is cut as it is,
// without what all take out, and without that of each. What changes by several requests
// together but by none alone is of all of them. A timestep that is not settled has no
// slices.
func affected(
	c cutting.Cut, content *snapshot.Content, requests []lethe.Removal, scope lethe.Scope,
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
	working := cutting.SideBySide()
	for i, gone := range cuts {
		working.Go(func() (err error) {
			rest, kept := without(content, gone)
			digests[i], err = c.Digests(rest, content.Info.Previous, kept)
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

// joins returns for each of several requests which transactions of a timestep are joined no more
// once all are carried out, and the stubs that stand for them then nowhere any more. At scope shard
// those for transactions stay.
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

// stubsAt is what goes of a timestep.
type stubsAt struct {
	repair   repair.Config
	timestep lethe.Timestep
	gone     *deletions.Gone
}

// with adds what goes with a payment on account of one request out of all.
func (to stubsAt) with(own, all lethe.Removal, p lethe.PseudonymPair, scope lethe.Scope) {
	stub := func(list *[]deletions.GoneStub, owner, missing lethe.Pseudonym) {
		if lambda, tells := to.repair.StubFor(to.timestep, owner, missing); tells {
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
