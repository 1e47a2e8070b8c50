package kafka_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/configs"
	"lethe/internal/residue"
)

// forms are those in which a transaction of the dataset could be left.
func (l *lab) forms(t *testing.T, id lethe.TransactionID) []residue.Form {
	t.Helper()
	secret, err := configs.LoadOrCreateSecret(l.secret(), nil)
	require.NoError(t, err)
	forms, err := residue.Of(secret, l.stream, id)
	require.NoError(t, err)
	return forms
}

// search lists what is left in the folders, which the broker and lethe may
// change meanwhile.
func search(t *testing.T, forms []residue.Form, dirs ...string) []residue.Hit {
	t.Helper()
	report, err := residue.Search(forms, dirs...)
	require.NoError(t, err)
	return report.Hits
}

// logs are the folders of the deployment's partitions in the broker, if it is
// known where the broker keeps them.
func (d *deployment) logs() []string {
	if outside.dir == "" {
		d.t.Log("LETHE_BROKER_DIR is not set: the broker's files are not searched")
		return nil
	}
	return d.logsIn(outside.dir)
}

// logsIn is logs of the broker that keeps its own in a folder.
func (d *deployment) logsIn(root string) []string {
	d.t.Helper()
	found, err := filepath.Glob(filepath.Join(root, d.prefix+"*"))
	require.NoError(d.t, err)
	require.NotEmpty(d.t, found, "no partition of ours in %s", root)
	return found
}

// requireGone fails if a form is found. The broker keeps the files that
// compaction replaced for file.delete.delay.ms, a second, so the first look may
// be too early.
func (d *deployment) requireGone(forms []residue.Form, dataDirs ...string) {
	d.t.Helper()
	dirs := append(d.logs(), dataDirs...)
	var left []residue.Hit
	for range 10 {
		if left = search(d.t, forms, dirs...); len(left) == 0 {
			return
		}
		time.Sleep(500 * time.Millisecond)
	}
	require.Empty(d.t, left)
}
