package several_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/dataset"
)

// firstNode is a transaction of the first timestep.
func firstNode(t *testing.T, d *deployment) string { return nodeAt(t, d, 0) }

// secondNode is another one.
func secondNode(t *testing.T, d *deployment) string { return nodeAt(t, d, 1) }

func nodeAt(t *testing.T, d *deployment, at int) string {
	t.Helper()
	stream, err := dataset.LoadElliptic(t.Context(), filepath.Join(d.dir, "stream"))
	require.NoError(t, err)
	require.Len(t, stream.Steps, steps)
	require.Len(t, stream.Steps[0].Transactions, nodesPerStep)
	return string(stream.Steps[0].Transactions[at].ID)
}
