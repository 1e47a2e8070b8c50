package attack

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
)

func TestNothingWaitsForAServiceThatHasEnded(t *testing.T) {
	s, c := smallStream(t, 2), smallConfig(t)
	o := Defaults(s, c)
	// While the service runs, a folder takes the place of the receipt to come, which ends
	// the role that writes it.
	o.Progress = func(string, ...any) {
		require.NoError(t, os.MkdirAll(filepath.Join(c.DataDir, "receipts", "r.json", "file"), 0o700))
	}
	asked := []lethe.ErasureRequest{{
		RequestID: "r", Scope: lethe.ScopeStubs, Targets: lethe.Transactions(s.Steps[0].Transactions[0].ID),
	}}
	_, err := expose(t.Context(), o, c, s, asked)
	require.ErrorIs(t, err, errEndedEarly)
	require.ErrorContains(t, err, "receipt")
}
