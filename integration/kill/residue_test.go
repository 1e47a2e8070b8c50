package kill_test

import (
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/configs"
	"lethe/internal/residue"
)

// residue lists what is left of a transaction in the data directory. The
// service must not be running: what it is about to remove would be found.
func (d *deployment) residue(id lethe.TransactionID) []residue.Hit {
	d.t.Helper()
	secret, err := configs.LoadOrCreateSecret(d.secret, nil)
	require.NoError(d.t, err)
	forms, err := residue.Of(secret, d.stream, id)
	require.NoError(d.t, err)
	report, err := residue.Search(forms, d.dir)
	require.NoError(d.t, err)
	return report.Hits
}
