package deletions_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/deletions"
)

func outcomes(list ...deletions.Outcome) (out []deletions.TargetOutcome) {
	for _, o := range list {
		out = append(out, deletions.TargetOutcome{Outcome: o})
	}
	return out
}

// V26: a verified request of which nothing was held is never called just verified.
func TestHeadline_NothingHeld_IsNotVerified(t *testing.T) {
	const erased, already, nothing = deletions.OutcomeErased, deletions.OutcomeAlreadyErased, deletions.OutcomeNothingHeld
	for _, c := range []struct {
		outcomes []deletions.TargetOutcome
		result   deletions.Result
		headline string
	}{
		{outcomes(nothing), deletions.ResultNothingHeld, "nothing held"},
		{outcomes(nothing, nothing), deletions.ResultNothingHeld, "nothing held"},
		{outcomes(erased, nothing, erased), deletions.ResultPartlyHeld, "verified, 1 of 3 targets not held"},
		{outcomes(already, nothing), deletions.ResultPartlyHeld, "verified, 1 of 2 targets not held"},
		{outcomes(already), deletions.ResultAlreadyErased, "verified, erased by another request"},
		{outcomes(already, erased), deletions.ResultErased, "verified"},
		{outcomes(erased), deletions.ResultErased, "verified"},
		{nil, "", "verified"},
	} {
		s := deletions.Status{State: deletions.Verified, Outcomes: c.outcomes}
		require.Equal(t, c.result, s.Result())
		require.Equal(t, c.headline, s.Headline())
		s.State = deletions.Swapped
		require.Empty(t, s.Result(), "only a verified request has a result")
		require.Equal(t, "swapped", s.Headline())
	}
}

// V27: a request that waits for a signature is not called held, and one that a hold keeps names it.
func TestHeadline_Held_SaysWhatItWaitsFor(t *testing.T) {
	signatures := &deletions.WaitsForSignatures{Given: 1, Needed: 2}
	open := deletions.WaitsForHold{Name: "case-7"}
	ends := deletions.WaitsForHold{Name: "case-8", Until: time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC)}
	for _, c := range []struct {
		waits *deletions.WaitsFor
		want  string
	}{
		{&deletions.WaitsFor{Signatures: signatures}, "waits for a second signature: 1 of 2"},
		{&deletions.WaitsFor{Signatures: &deletions.WaitsForSignatures{Given: 2, Needed: 3}},
			"waits for another signature: 2 of 3"},
		{&deletions.WaitsFor{Holds: []deletions.WaitsForHold{open}}, "held by hold case-7 until it is lifted"},
		{&deletions.WaitsFor{Holds: []deletions.WaitsForHold{ends}, Signatures: signatures},
			"held by hold case-8 until 2027-01-31T00:00:00Z; waits for a second signature: 1 of 2"},
		{nil, "held"},
	} {
		s := deletions.Status{State: deletions.Held, WaitsFor: c.waits}
		require.Equal(t, c.want, s.Headline())
		require.Equal(t, c.waits != nil && c.waits.Signatures != nil, s.AwaitsSignature())
	}
}
