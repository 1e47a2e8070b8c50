package lethe_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
)

// What cannot be erased is refused by its kind and position, without a word of what it
// names.
func TestTargetsThatCannotBeErased(t *testing.T) {
	fine := append(lethe.Transactions("a", "b"), lethe.PaymentBetween("a", "b"), lethe.FeaturesOf("a"),
		lethe.FeaturesOf("a", 7, 0), lethe.SubjectThrough("c", 7))
	require.NoError(t, lethe.CheckTargets(fine))
	for _, other := range []lethe.Target{
		{Kind: lethe.FeaturesTarget, Columns: lethe.Columns{3}},
		lethe.SubjectThrough("", 7),
		{Kind: lethe.TransactionTarget},
		lethe.PaymentBetween("secret", "secret"),
		{Transaction: "secret"},
		lethe.PaymentBetween("secret", "\xff"),
	} {
		err := lethe.CheckTargets(append(fine[:2:2], other))
		require.ErrorIs(t, err, lethe.ErrTarget)
		require.ErrorContains(t, err, "target 2")
		require.ErrorContains(t, err, "of kind \""+string(other.Kind)+"\"")
		require.NotContains(t, err.Error(), "secret")
	}
}

// Hashes of different targets differ, in kind and in what they name; a transaction has the
// hash that it always had.
func TestSuppressedHashesDiffer(t *testing.T) {
	secret := lethe.Secret{1}
	require.Equal(t, secret.Suppression("a"), secret.Suppressed(lethe.Transactions("a")[0]))
	known := make(map[lethe.Digest]lethe.Target)
	names := make(map[lethe.TargetName]bool)
	for _, target := range []lethe.Target{
		lethe.Transactions("a")[0], lethe.PaymentBetween("a", "b"), lethe.PaymentBetween("b", "a"),
		lethe.PaymentBetween("ab", "c"), lethe.PaymentBetween("a", "bc"),
		{Kind: lethe.FeaturesTarget, Transaction: "a"},
		{Kind: lethe.FeaturesTarget, Transaction: "a", Columns: lethe.Columns{1, 2}},
		{Kind: lethe.FeaturesTarget, Transaction: "a", Columns: lethe.Columns{12}},
		{Kind: lethe.SubjectTarget, Subject: "a"},
	} {
		hash := secret.Suppressed(target)
		require.NotContains(t, known, hash, "%v", target)
		require.False(t, names[target.Name()], "%v", target)
		known[hash], names[target.Name()] = target, true
	}
}
