package journal_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/pipeline/journal"
)

func TestPlace_Appended_IsCutAgain(t *testing.T) {
	place := journal.Place{Epoch: 3, Number: 1 << 40}
	got, rest := journal.CutPlace(append(place.AppendTo(nil), "rest"...))
	require.Equal(t, place, got)
	require.Equal(t, "rest", string(rest))
	got, rest = journal.CutPlace(place.AppendTo(nil)[:15])
	require.Zero(t, got)
	require.Empty(t, rest)
}
