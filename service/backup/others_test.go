package backup_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/internal/kms"
	"lethe/internal/kms/kmstest"
	"lethe/service/servicetest"
)

// Backups of a deployment whose keys are sealed are checked by the public key that is in them, and put back with the
// keys as they lie there.
func TestABackupOfSealedKeysIsPutBack(t *testing.T) {
	t.Parallel()
	vault := kmstest.New(t, "s.right")
	c := servicetest.SmallConfig(t, t.TempDir())
	c.SecretFile = ""
	c.KMS = kms.Defaults()
	c.KMS.Address, c.KMS.TokenFile = vault.URL, filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(c.KMS.TokenFile, []byte("s.right"), 0o600))
	stream := servicetest.SmallStream(t, 2, 40, 3)
	r := servicetest.Start(t, c)
	r.Replay(stream)
	r.Stop()
	first, _ := madeOf(t, c, 24*time.Hour)
	r = servicetest.Start(t, c)
	require.Equal(t, deletions.Verified, r.Erase("after", lethe.ScopeStubs, servicetest.LabelledIllicit(stream, 1)[0]))
	r.Stop()
	later, _ := madeOf(t, c, 48*time.Hour)

	put, again := restored(t, c, first, later)
	require.Equal(t, 1, again.Targets)
	content, err := os.ReadFile(put.SigningKeyPath())
	require.NoError(t, err)
	require.True(t, kms.IsSealed(content))
	servicetest.Start(t, put).Stop()
}

// Once a backup is put back nobody hears of what was erased since, also not of alerts that could not be delivered when
// it was made.
func TestARestorePostsNothingThatIsErased(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 4, 60, 43)
	c := servicetest.SmallConfig(t, t.TempDir())
	to := servicetest.Alerting(t, &c)
	s := servicetest.Start(t, c)
	s.Replay(stream)
	require.Eventually(t, func() bool { return len(to.Told()) >= 14 }, servicetest.WaitFor, servicetest.Tick)
	alert := lethe.TransactionID(to.Told()[0])
	s.Stop()
	c.DataDir = t.TempDir()
	to.Refuse(true)
	s = servicetest.Start(t, c)
	s.Replay(stream)
	s.Stop()
	path, _ := madeOf(t, c, 24*time.Hour)
	s = servicetest.Start(t, c)
	require.Equal(t, deletions.Verified, s.Erase("after", lethe.ScopeStubs, alert))
	s.Stop()

	to.Refuse(false)
	known := len(to.Told())
	put, _ := restored(t, c, path, c.DataDir)
	require.NotContains(t, to.Told()[known:], string(alert))
	require.Empty(t, to.Told()[known:], "it is not in its place yet")
	servicetest.Start(t, put)
	require.Eventually(t, func() bool { return len(to.Told()[known:]) >= 10 }, servicetest.WaitFor, servicetest.Tick)
	require.NotContains(t, to.Told()[known:], string(alert))
}
