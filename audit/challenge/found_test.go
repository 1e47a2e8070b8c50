package challenge_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/audit/challenge"
	"lethe/canonical"
	"lethe/deletions"
	"lethe/deletions/translog"
	"lethe/scoring/calibrate"
	"lethe/scoring/ensemble"
	"lethe/scoring/meta"
	"lethe/trainer"
	"lethe/trainer/kernels"
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

// erasePayment says that a payment was erased, and changes no slice.
func (d *deployment) erasePayment(t *testing.T, source, target lethe.Pseudonym) {
	request := canonical.DigestOf(append(source[:], target[:]...))
	at := time.UnixMilli(1_700_000_000_000).UTC()
	salts := deletions.Salts(d.secret, request, 1)
	d.log(t, translog.Request{
		Digest: request, Scope: lethe.ScopeStubs, At: at, Targets: 1, Commitments: []lethe.Digest{},
		Payments: []lethe.Digest{deletions.PaymentCommitment(salts[0], source, target)}, Salts: deletions.SaltsDigest(salts),
	}, translog.Transition{Request: request, State: deletions.Verified, At: at})
}

// A slice says that two transactions are joined, and not who paid: only when payments in both
// directions were erased it is known to hold one.
func TestASliceThatHoldsAnErasedPaymentIsFound(t *testing.T) {
	d := deployed(t, "paid", networks(1))
	p := challenge.Pair{Shard: 1, Timestep: 2}
	nodes := d.slices[p].Nodes
	d.erasePayment(t, nodes[0], nodes[3])
	d.erasePayment(t, nodes[3], nodes[0])
	r := d.ask(t, d.at(t, p))
	require.Empty(t, r.Problems, "no edge joins them")
	require.Zero(t, r.OpenPayments)
	require.Equal(t, 2, r.Requests)

	d.erasePayment(t, nodes[1], nodes[0])
	r = d.ask(t, d.at(t, p))
	require.Empty(t, r.Problems)
	require.Equal(t, 1, r.OpenPayments, "the payment the other way may have stayed")

	d.erasePayment(t, nodes[0], nodes[1])
	r = d.ask(t, d.at(t, p))
	require.Len(t, r.Problems, 1)
	require.Contains(t, r.Problems[0], "holds a payment that was erased in both directions, last by the request of "+
		"leaf 55")
	require.True(t, d.ask(t, d.at(t, challenge.Pair{Shard: 2, Timestep: 2})).OK)

	b := d.answer(t, d.at(t, p))
	b.Openings = b.Openings[:3]
	require.Contains(t, d.check(t, b, d.at(t, p)).Problems[0], "the commitments of request leaf 55 are not opened")
}

// every returns a deployment with models of every kind, after an erasure.
func every(t *testing.T, set, calibration string) *deployment {
	boosted, drawn := trainer.DefaultsOf(trainer.Trees), trainer.DefaultsOf(trainer.Trees)
	boosted.Trees.Rounds, drawn.Trees.Rounds, drawn.Trees.RowShare = 5, 5, .7
	over := meta.Defaults()
	over.Timesteps, over.Calibration.Method = 3, calibration
	d := deployedBy(t, set, "every", &over, networks(2), regressions(), ensemble.Component{Config: boosted, Groups: 2},
		ensemble.Component{Config: drawn, Groups: 1})
	d.learnMeta(t, func(*meta.Model) {})
	d.erase(t, challenge.Pair{Shard: 2, Timestep: 3}, cheat{})
	d.learnMeta(t, func(*meta.Model) {})
	return d
}

// The answers in testdata were made on amd64. What they commit to is trained anew on whatever
// processor this is: networks by both kernel sets, regressions, trees and what is above them.
func TestAnswersOfAnotherProcessorHold(t *testing.T) {
	for set, calibration := range map[string]string{
		kernels.PortableName: calibrate.Isotonic, kernels.FMAName: calibrate.Platt,
	} {
		path := filepath.Join("testdata", "answer-"+set)
		d := every(t, set, calibration)
		here := d.answer(t, challenge.Challenge{Checkpoint: d.checkpoint(t), Meta: true}).Encode()
		if _, err := os.Stat(path); os.IsNotExist(err) {
			require.NoError(t, os.WriteFile(path, here, 0o600))
			t.Fatalf("%s was missing and is made anew: run this again", path)
		}
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		b, err := challenge.DecodeBundle(data)
		require.NoError(t, err)
		r := d.check(t, b, challenge.Challenge{Checkpoint: b.Checkpoint, Meta: true})
		require.Empty(t, r.Problems)
		require.Equal(t, set, r.KernelSet)
		require.Equal(t, shardsOfTests*timestepsOfTests+2+2+1+1, r.Models)
		require.Equal(t, 1, r.Requests)
		require.Equal(t, data, here, "a deployment here gives the very answer")
	}
}
