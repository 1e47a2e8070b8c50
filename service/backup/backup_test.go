package backup_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/audit"
	"lethe/configs"
	"lethe/deletions"
	"lethe/deletions/translog"
	"lethe/service"
	"lethe/service/backup"
	"lethe/service/servicetest"
)

func madeOf(t *testing.T, c configs.Config, keep time.Duration) (path string, m backup.Manifest) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "backup.tar")
	m, err := backup.Create{
		Config: c, To: path, Keep: keep, Version: "test", Random: strings.NewReader(t.Name() + "0123456789"), Now: time.Now(),
	}.Run()
	require.NoError(t, err)
	return path, m
}

// restored puts a backup back and finishes that: it is a deployment that may start.
func restored(t *testing.T, c configs.Config, from, ledger string) (put configs.Config, again backup.Again) {
	t.Helper()
	put = c
	put.DataDir = filepath.Join(t.TempDir(), "put-back")
	_, err := backup.Restore{Config: put, From: from, Ledger: ledger, Now: time.Now()}.Run()
	require.NoError(t, err)
	again, err = backup.Finish(t.Context(), put, "test", slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	return put, again
}

// What was erased after a backup was made is erased again when it is put back, and what is
// served then is what was served.
func TestABackupBringsNothingBack(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 3, 50, 41)
	c := servicetest.SmallStack(t, t.TempDir())
	s := servicetest.Start(t, c)
	s.Replay(stream)
	ids := servicetest.LabelledIllicit(stream, 3)
	require.Equal(t, deletions.Verified, s.Erase("before", lethe.ScopeStubs, ids[0]))
	_, err := backup.Create{
		Config: c, To: filepath.Join(t.TempDir(), "none.tar"), Keep: time.Hour, Random: servicetest.Zeros{}, Now: time.Now(),
	}.Run()
	require.ErrorContains(t, err, "data directory "+c.DataDir+": another process uses it: stop lethe run on it first")
	s.Stop()
	path, m := madeOf(t, c, 24*time.Hour)

	s = servicetest.Start(t, c)
	s.Await(servicetest.Verified(1))
	require.Equal(t, deletions.Verified, s.Erase("after", lethe.ScopeStubs, ids[1]))
	s.Stop()
	was := servicetest.Audited(t, audit.Options{Config: c})
	require.Empty(t, servicetest.Receipt(t, c, "before").Backups)
	kept := servicetest.Receipt(t, c, "after").Backups
	require.Len(t, kept, 1)
	require.Equal(t, m.ID, kept[0].ID)
	require.Equal(t, m.ExpiresAt, kept[0].ExpiresAt)

	put := c
	put.DataDir = filepath.Join(t.TempDir(), "put-back")
	restored, err := backup.Restore{Config: put, From: path, Ledger: c.DataDir, Now: time.Now()}.Run()
	require.NoError(t, err)
	require.Equal(t, m.ID, restored.ID)
	_, err = service.New(t.Context(), servicetest.Options(put))
	require.ErrorContains(t, err, "what was put here is not whole")
	again, err := backup.Finish(t.Context(), put, "test", slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	require.Equal(t, 1, again.Targets)
	require.Len(t, again.Requests, 1)

	is := servicetest.Audited(t, audit.Options{Config: put, Fresh: true})
	require.Equal(t, was.EnsembleHash, is.EnsembleHash)
	require.Equal(t, was.Transactions, is.Transactions)
	// It goes on, and the third is erased as any. That nothing is left of the backup is an operator's
	// word, which the log has before any receipt leaves the backup out.
	_, err = backup.Forget(put, m.ID, time.Now())
	require.NoError(t, err)
	s = servicetest.Start(t, put)
	s.Await(servicetest.Verified(3))
	require.Equal(t, deletions.Verified, s.Erase("later", lethe.ScopeStubs, ids[2]))
	s.Stop()
	require.Empty(t, servicetest.Receipt(t, put, "later").Backups)
	log, err := audit.ReadLog(t.Context(), audit.LogOptions{Config: put})
	require.NoError(t, err)
	said := string(bytes.Join(log.Leaves, []byte("\n")))
	for _, action := range []translog.Action{translog.ActionBackup, translog.ActionForgetBackup, translog.ActionRestore} {
		require.Equal(t, 1, strings.Count(said, `"action":"`+string(action)+`"`), action)
	}
}

// Each refusal is one line with the file and what to do, and writes nothing.
func TestABackupIsRefused(t *testing.T) {
	t.Parallel()
	c, other := servicetest.SmallConfig(t, t.TempDir()), servicetest.SmallConfig(t, t.TempDir())
	c.SecretFile, other.SecretFile = "", ""
	require.NoError(t, os.MkdirAll(filepath.Dir(other.SecretPath()), 0o700))
	_, err := configs.LoadOrCreateSecret(other.SecretPath(), strings.NewReader(strings.Repeat("other", 100)))
	require.NoError(t, err)
	for _, one := range []configs.Config{c, other} {
		s := servicetest.Start(t, one)
		_, err := backup.Create{Config: one, To: filepath.Join(t.TempDir(), "b"), Keep: time.Hour, Now: time.Now(),
			Random: strings.NewReader("0123456789")}.Run()
		require.ErrorContains(t, err, "another process uses it")
		s.Stop()
	}
	path, _ := madeOf(t, c, time.Hour)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	servicetest.Start(t, c).Stop() // the log has a leaf of the backup then
	later, _ := madeOf(t, c, time.Hour)
	old, err := os.ReadFile(later)
	require.NoError(t, err)
	for name, one := range map[string]struct {
		change func(data []byte) []byte
		ledger string
		want   string
	}{
		"cut short": {func(d []byte) []byte { return d[:len(d)/2] }, c.DataDir, "it was cut short"},
		"no end": {
			func(d []byte) []byte { return d[:strings.LastIndex(string(d), "manifest.json")] }, c.DataDir, "cut short",
		},
		"no backup":          {func([]byte) []byte { return []byte(strings.Repeat("lethe ", 200)) }, c.DataDir, "damaged"},
		"damaged":            {turned("erasure-ledger"), c.DataDir, "it is damaged or was altered"},
		"altered":            {turned(`"payload":"`), c.DataDir, "manifest.json"},
		"another deployment": {func(d []byte) []byte { return d }, other.DataDir, "it is of deployment"},
		"no ledger":          {func(d []byte) []byte { return d }, "", "say --without-ledger"},
		"not there":          {func(d []byte) []byte { return d }, c.DataDir + "-none", "the newest ledger"},
		"an older ledger":    {func([]byte) []byte { return old }, path, "is older than it"},
	} {
		t.Run(name, func(t *testing.T) {
			changed := filepath.Join(t.TempDir(), "changed.tar")
			require.NoError(t, os.WriteFile(changed, one.change(whole), 0o600))
			put := c
			put.DataDir = filepath.Join(t.TempDir(), "new")
			_, err := backup.Restore{Config: put, From: changed, Ledger: one.ledger, Now: time.Now()}.Run()
			require.ErrorContains(t, err, one.want)
			require.NotContains(t, err.Error(), "\n")
			require.NoDirExists(t, put.DataDir)
		})
	}
	full := c
	_, err = backup.Restore{Config: full, From: path, Ledger: other.DataDir, Now: time.Now()}.Run()
	require.ErrorContains(t, err, "is not empty")
}

// turned changes a byte behind a text.
func turned(text string) func([]byte) []byte {
	return func(data []byte) []byte {
		out := []byte(string(data))
		at := strings.Index(string(out), text) + len(text) + 1
		out[at] ^= 1
		return out
	}
}
