package challenge_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/audit/challenge"
	"lethe/canonical"
	"lethe/deletions"
	"lethe/deletions/translog"
)

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
