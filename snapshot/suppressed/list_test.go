package suppressed_test

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/snapshot/suppressed"
)

// store counts how often what was begun before has ended.
type store struct {
	*swapstore.Store
	outdated int
}

func (s *store) Outdate() { s.outdated++ }

// reopened is a list filled with what is stored.
func reopened(t *testing.T, s *store, secret lethe.Secret) *suppressed.List {
	t.Helper()
	l := suppressed.New(s, secret)
	for _, kind := range []byte{suppressed.Kind, suppressed.KindRedacted} {
		require.NoError(t, s.Scan([]byte{kind}, l.Mirror))
	}
	return l
}

// What is erased is the same after a restart: transactions, payments in their direction, subjects up to their timestep,
// features; and so is what was lifted.
func TestWhatIsErasedOutlivesARestart(t *testing.T) {
	opened, err := swapstore.Open(vfs.NewMem(), "data", swapstore.Format{Kind: "test", Version: 1})
	require.NoError(t, err)
	s, secret := &store{Store: opened}, lethe.Secret{3}
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	targets := []lethe.Target{
		lethe.PaymentBetween("b", "c"), lethe.SubjectThrough("customer", 4), lethe.FeaturesOf("d", 1),
	}
	targets = append(targets, lethe.Transactions("a")...)
	first := suppressed.New(s, secret)
	require.False(t, first.Names([]lethe.TransactionID{"a"}))
	require.NoError(t, first.Add(targets))
	require.NoError(t, first.Add(targets))
	require.Positive(t, s.outdated, "an erasure that is repeated ends batches too")
	for _, l := range []*suppressed.List{first, reopened(t, s, secret)} {
		require.True(t, l.Names([]lethe.TransactionID{"x", "a"}))
		require.True(t, l.Names([]lethe.TransactionID{"b", "c"}))
		require.False(t, l.Names([]lethe.TransactionID{"c", "b"}))
		require.False(t, l.Names([]lethe.TransactionID{"b"}))
		require.True(t, l.Take(4, []string{"other", "customer"}))
		require.False(t, l.Take(5, []string{"customer"}))
		require.True(t, l.Redacts())
		columns, found := l.Redacted("d")
		require.True(t, found)
		require.Equal(t, lethe.Columns{1}, columns)
		for _, target := range targets {
			require.True(t, l.Has(secret.Suppressed(target)))
		}
	}
	still := lethe.SubjectUntil{Target: secret.SuppressedSubject("customer"), Until: 2}
	require.NoError(t, first.Lift([]lethe.Digest{secret.Suppression("a"), secret.Suppressed(targets[2])}, still))
	for _, l := range []*suppressed.List{first, reopened(t, s, secret)} {
		require.False(t, l.Names([]lethe.TransactionID{"a"}))
		require.False(t, l.Redacts())
		require.True(t, l.Take(2, []string{"customer"}))
		require.False(t, l.Take(3, []string{"customer"}))
	}
}
