package dataset_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/dataset"
	"lethe/internal/realdata"
)

func bitcoinOTC(tb testing.TB) *dataset.Stream {
	tb.Helper()
	dir := realdata.Path(tb, "bitcoin-otc", "elliptic-format")
	s, err := dataset.LoadElliptic(context.Background(), dir)
	require.NoError(tb, err)
	return s
}

func TestBitcoinOTC(t *testing.T) {
	s := bitcoinOTC(t)
	require.NoError(t, validate(s))
	require.Equal(t, "elliptic-format", s.Name)
	require.Equal(t, 59, s.FeatureCount)
	first, last := s.Range()
	require.Equal(t, []lethe.Timestep{1, 49}, []lethe.Timestep{first, last})
	total := s.Totals()
	require.Equal(t, []int{49, 35592, 44802}, []int{total.Steps, total.Transactions, total.Payments})
	for _, c := range []struct {
		from, to       lethe.Timestep
		illicit, licit int
	}{{1, 29, 935, 7541}, {30, 34, 176, 1165}, {35, 49, 1551, 3275}} {
		part, err := s.Slice(c.from, c.to)
		require.NoError(t, err)
		labels := part.Totals().Labels
		require.Equal(t, c.illicit, labels[lethe.Illicit], "steps %d-%d", c.from, c.to)
		require.Equal(t, c.licit, labels[lethe.Licit], "steps %d-%d", c.from, c.to)
	}
	row := s.Steps[0].Transactions[0].Features
	require.Equal(t, []float32{-1.3912, -0.74846, -0.037136}, []float32{row[0], row[1], row[58]})
}

func TestBitcoinOTCSurvivesWriting(t *testing.T) {
	s := bitcoinOTC(t)
	dir := filepath.Join(t.TempDir(), "elliptic-format")
	require.NoError(t, dataset.WriteElliptic(dir, s, false))
	again, err := dataset.LoadElliptic(context.Background(), dir)
	require.NoError(t, err)
	require.Equal(t, s, again)
}
