package coordinator

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/ingest/bus"
)

// Its sender computes the digest of a request without knowing the default scope, and waits for a status of that digest.
// A copy of the record that is read after the default has changed is still the same request.
func TestARequestWithoutScope_DefaultChanges_HasOneDigestAndScope(t *testing.T) {
	d := deploy(t)
	asked := lethe.ErasureRequest{
		RequestID: "one", Targets: lethe.Transactions("transaction-1"), Nonce: strings.Repeat("0", 32),
	}
	digest, err := deletions.RequestDigest(asked)
	require.NoError(t, err)
	for _, scope := range []lethe.Scope{lethe.ScopePartition, lethe.ScopeStubs} {
		d.scope = scope
		d.submit(asked)
		require.NoError(t, d.boot())
		ledger := deletions.NewLedger(d.kv, nil)
		e, err := ledger.Get("one")
		require.NoError(t, err)
		require.Equal(t, lethe.ScopePartition, e.Scope)
		require.Equal(t, digest, e.Digest)
		require.Equal(t, deletions.Accepted, e.State)
	}
	for _, rec := range d.bus.topics[bus.ErasureStatus] {
		require.NotContains(t, string(rec.Value), deletions.RejectedConflict)
	}
}

// The status of a rejected request has the scope that it would have had.
func TestARejectedRequestWithoutScope_HasTheDefault(t *testing.T) {
	d := deploy(t)
	d.scope = lethe.ScopePartition
	d.submit(lethe.ErasureRequest{RequestID: "about-transaction-1", Targets: lethe.Transactions("transaction-1")})
	require.NoError(t, d.boot())
	statuses := d.bus.topics[bus.ErasureStatus]
	require.Len(t, statuses, 1)
	status, err := deletions.DecodeStatus(statuses[0].Value)
	require.NoError(t, err)
	require.Equal(t, deletions.RejectedName, status.Failure)
	require.Equal(t, lethe.ScopePartition, status.Scope)
}

// submitAgain submits a request without a scope twice, with other nonces. Between the two, something happens to the
// deployment, and erasure.default_scope changes.
func submitAgain(t *testing.T, between func(d *deployment)) *deployment {
	t.Helper()
	d := deploy(t)
	for i, scope := range []lethe.Scope{lethe.ScopePartition, lethe.ScopeStubs} {
		if i > 0 {
			between(d)
		}
		d.scope = scope
		d.submit(lethe.ErasureRequest{
			RequestID: "one", Targets: lethe.Transactions("transaction-1"), Nonce: strings.Repeat(strconv.Itoa(i), 32),
		})
		require.NoError(t, d.boot())
	}
	return d
}

func TestARepeatedRequestWithoutScope_DefaultChanges_IsNoConflict(t *testing.T) {
	d := submitAgain(t, func(*deployment) {})
	for _, rec := range d.bus.topics[bus.ErasureStatus] {
		require.NotContains(t, string(rec.Value), deletions.RejectedConflict)
	}
}

// The log lost the record of the first request while no process ran.
func TestARequestWhoseRecordWasLost_DefaultChanges_TargetsAreKnown(t *testing.T) {
	d := submitAgain(t, func(d *deployment) { d.bus.topics[bus.Erasures] = nil })
	require.NotNil(t, d.states.jobs.of("one"), "the request waits for its targets for ever")
}
