package challenge_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/audit/challenge"
	"lethe/canonical"
	"lethe/deletions"
	"lethe/deletions/translog"
)

// finds says that a request, which names nothing that has a commitment of its own, has found
// something, then does what it has to do, and says that everything was done.
func (d *deployment) finds(t *testing.T, name string, gone deletions.Gone, do func()) {
	request := canonical.DigestOf([]byte(name))
	at := time.UnixMilli(1_700_000_000_000).UTC()
	d.log(t, translog.Request{
		Digest: request, Scope: lethe.ScopeStubs, At: at, Targets: 1, Commitments: []lethe.Digest{},
	}, translog.Found{Request: request, Found: *gone.Commit(d.secret, request)})
	do()
	for _, state := range []deletions.State{deletions.Swapped, deletions.Erased, deletions.Verified} {
		d.log(t, translog.Transition{Request: request, State: state, At: at})
	}
}

// becomes replaces a slice, and the models that learnt from it.
func (d *deployment) becomes(t *testing.T, p challenge.Pair, change func(s *lethe.Slice)) {
	next := *d.slices[p]
	next.Features, next.Stubs = slices.Clone(next.Features), slices.Clone(next.Stubs)
	next.Edges = slices.Clone(next.Edges)
	change(&next)
	d.replaceSlice(t, p, &next)
	for at := p.Timestep; at < timestepsOfTests; at++ {
		d.replaceModel(t, p.Shard, d.train(t, p.Shard, at, d.slices))
	}
}

func nothing() {}

// What went with a subject is looked for in slices, as what a request names is.
func TestASliceThatHoldsWhatWentWithASubjectIsFound(t *testing.T) {
	d, p := deployed(t, "subject", networks(1)), challenge.Pair{Shard: 1, Timestep: 2}
	rest, gone := without(d.slices[p])
	d.finds(t, "one", deletions.Gone{Transactions: []lethe.Pseudonym{gone}}, nothing)
	r := d.ask(t, d.at(t, p))
	require.Len(t, r.Problems, 1)
	require.Contains(t, r.Problems[0], "holds a transaction that the request of leaf")
	require.True(t, d.ask(t, d.at(t, challenge.Pair{Shard: 2, Timestep: 2})).OK)

	d.becomes(t, p, func(s *lethe.Slice) { *s = *rest })
	require.Empty(t, d.ask(t, d.at(t, p)).Problems)

	b := d.answer(t, d.at(t, p))
	b.Openings = []challenge.Opening{{Request: b.Openings[0].Request, Salts: []lethe.Digest{{1}}}}
	require.Contains(t, d.check(t, b, d.at(t, p)).Problems[0], "has found, is not what it commits to")
}

// Features that are erased are 0 in a slice.
func TestASliceThatHoldsErasedFeaturesIsFound(t *testing.T) {
	d, p := deployed(t, "features", networks(1)), challenge.Pair{Shard: 1, Timestep: 2}
	of := d.slices[p].Nodes[3]
	d.finds(t, "one", deletions.Gone{Features: []deletions.GoneFeatures{{Of: of, Columns: []int{0, 2, 99}}}}, func() {
		d.becomes(t, p, func(s *lethe.Slice) { s.Row(3)[0] = 0 })
	})
	r := d.ask(t, d.at(t, p))
	require.Len(t, r.Problems, 1)
	require.Contains(t, r.Problems[0], "holds features that the request of leaf")

	d.becomes(t, p, func(s *lethe.Slice) { s.Row(3)[2] = 0 })
	require.Empty(t, d.ask(t, d.at(t, p)).Problems)
}

// A stub that stands for an erased transaction, or for the other end of an erased payment, is told
// by its factor, and an edge by both its ends. Payments may come again between two that stay: then
// the slice was replaced more often.
func TestASliceThatHoldsStubsForWhatWasErasedIsFound(t *testing.T) {
	d, p := deployed(t, "stubs", networks(1)), challenge.Pair{Shard: 1, Timestep: 2}
	d.becomes(t, p, func(s *lethe.Slice) {
		s.Stubs = []lethe.Stub{{Owner: 0, Lambda: .25}, {Owner: 0, Lambda: .5}, {Owner: 4, Lambda: .5}}
	})
	nodes := d.slices[p].Nodes
	d.finds(t, "stub", deletions.Gone{
		PairStubs: []deletions.GoneStub{{Owner: nodes[0], Lambda: .5}, {Owner: lethe.Pseudonym{99}, Lambda: .25}},
	}, nothing)
	r := d.ask(t, d.at(t, p))
	require.Len(t, r.Problems, 1, "the slice was kept")
	require.Contains(t, r.Problems[0], "holds a payment that the request of leaf")
	d.becomes(t, p, func(s *lethe.Slice) { s.Stubs = slices.Delete(s.Stubs, 1, 2) })
	require.Empty(t, d.ask(t, d.at(t, p)).Problems)

	d.finds(t, "edge", deletions.Gone{Pairs: []lethe.PseudonymPair{{Source: nodes[2], Target: nodes[1]}}}, nothing)
	require.Len(t, d.ask(t, d.at(t, p)).Problems, 1, "the slice was kept")
	d.becomes(t, p, func(s *lethe.Slice) { s.Row(0)[0]++ })
	require.Len(t, d.ask(t, d.at(t, p)).Problems, 1, "the edge is there in what the erasure has made")
	d.becomes(t, p, func(s *lethe.Slice) { s.Edges = s.Edges[:1] })
	require.Empty(t, d.ask(t, d.at(t, p)).Problems)
	d.becomes(t, p, func(s *lethe.Slice) { s.Edges = append(s.Edges, lethe.Edge{A: 1, B: 2}) })
	r = d.ask(t, d.at(t, p))
	require.Empty(t, r.Problems, "a payment may have come the other way")
	require.Equal(t, 1, r.OpenPayments)

	d.finds(t, "transaction", deletions.Gone{Stubs: []deletions.GoneStub{{Owner: nodes[0], Lambda: .25}}}, nothing)
	require.Contains(t, d.ask(t, d.at(t, p)).Problems[0], "holds a stub for a transaction that the request of leaf")
	for range 2 {
		d.becomes(t, p, func(s *lethe.Slice) { s.Row(0)[0]++ })
	}
	require.Len(t, d.ask(t, d.at(t, p)).Problems, 1, "a transaction that is erased never comes again")
	d.becomes(t, p, func(s *lethe.Slice) { s.Stubs = s.Stubs[1:] })
	require.Empty(t, d.ask(t, d.at(t, p)).Problems)
}
