package dataset

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"lethe"
)

func TestEllipticIsKnownByItsCounts(t *testing.T) {
	whole := Totals{Steps: 49, Transactions: 203_769, Payments: 234_355}
	whole.Labels[lethe.Illicit], whole.Labels[lethe.Licit], whole.Labels[lethe.Unknown] = 4_545, 42_019, 157_205
	require.NoError(t, whole.checkPublished(165))

	cut := whole
	cut.Payments -= 7
	require.EqualError(t, cut.checkPublished(165),
		"elliptic_txs_edgelist.csv: 234348 payments for the 203769 transactions of Elliptic, which have 234355")
	require.ErrorIs(t, cut.checkPublished(165), ErrMalformed)
	require.NoError(t, cut.checkPublished(183), "with other features it is another data set")

	swapped := whole
	swapped.Labels[lethe.Illicit], swapped.Labels[lethe.Licit] = 42_019, 4_545
	require.EqualError(t, swapped.checkPublished(165),
		"elliptic_txs_classes.csv: 42019 illicit labels for the 203769 transactions of Elliptic, which have 4545\n"+
			"elliptic_txs_classes.csv: 4545 licit labels for the 203769 transactions of Elliptic, which have 42019")
	folded := whole
	folded.Steps = 48
	require.ErrorContains(t, folded.checkPublished(165), "48 timesteps")
}

// A pipe is not opened: its writer would be waited for.
func TestOpenTable_NoRegularFile_IsRefused(t *testing.T) {
	_, err := openTable(fstest.MapFS{FeaturesFile: {Mode: fs.ModeNamedPipe}}, FeaturesFile, false)
	require.ErrorIs(t, err, ErrNotDataset)
	require.ErrorContains(t, err, FeaturesFile+" is no regular file")
}
