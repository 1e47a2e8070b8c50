package lethe_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
)

// What the ledger knows of erased targets, whose ids are gone, outlives every rotation of the secret;
// pseudonyms and all else are others.
func TestHashesOfTheLedgerOutliveARotation(t *testing.T) {
	first := lethe.NewSecret([lethe.SecretKeyBytes]byte{1})
	second := first.Follow([lethe.SecretKeyBytes]byte{2})
	third := second.Follow([lethe.SecretKeyBytes]byte{3})
	require.Equal(t, first, first.Ledger())
	targets := []lethe.Target{
		lethe.Transactions("a")[0], lethe.PaymentBetween("a", "b"),
		{Kind: lethe.FeaturesTarget, Transaction: "a", Columns: lethe.Columns{0}}, {Kind: lethe.SubjectTarget, Subject: "s"},
	}
	for _, s := range []lethe.Secret{second, third} {
		require.Equal(t, first, s.Ledger())
		for _, target := range targets {
			require.Equal(t, first.Suppressed(target), s.Suppressed(target), target.Kind)
		}
		require.Equal(t, first.Deployment("lethe."), s.Deployment("lethe."))
		require.NotEqual(t, first.Pseudonym("a"), s.Pseudonym("a"))
		require.NotEqual(t, first.SubjectPseudonym("s"), s.SubjectPseudonym("s"))
		require.NotEqual(t, first.Hash("anything"), s.Hash("anything"))
	}
	require.NotEqual(t, second.Pseudonym("a"), third.Pseudonym("a"))
	require.Equal(t, second.Pseudonym("a"), lethe.NewSecret(second.Key()).Pseudonym("a"))
}
