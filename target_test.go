package lethe_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
)

// Kinds that cannot be erased yet are refused by name, without a word of what
// they name.
func TestOnlyTransactionsCanBeErased(t *testing.T) {
	ids := []lethe.TransactionID{"a", "b"}
	got, err := lethe.TransactionsOf(lethe.Transactions(ids...))
	require.NoError(t, err)
	require.Equal(t, ids, got)
	for _, other := range []lethe.Target{
		{Kind: lethe.PaymentTarget, Payment: lethe.Payment{Source: "secret", Target: "hidden"}},
		{Kind: lethe.FeaturesTarget, Transaction: "secret", Columns: []int{3}},
		{Kind: lethe.SubjectTarget, Subject: "secret"},
		{Transaction: "secret"},
	} {
		_, err := lethe.TransactionsOf(append(lethe.Transactions(ids...), other))
		require.ErrorIs(t, err, lethe.ErrTarget)
		require.ErrorContains(t, err, "target 2 is of kind \""+string(other.Kind)+"\"")
		require.NotContains(t, err.Error(), "secret")
	}
}
