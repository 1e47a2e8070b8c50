package backup

import (
	"archive/tar"
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/configs"
	"lethe/deletions/disk"
	"lethe/service"
)

// keyed returns a configuration of a new data directory that has keys, and the key that signs.
func keyed(t *testing.T) (c configs.Config, secret lethe.Secret, key ed25519.PrivateKey) {
	t.Helper()
	c = configs.Default()
	c.DataDir = t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Dir(c.SecretPath()), 0o700))
	secret, err := configs.LoadOrCreateSecret(c.SecretPath(), rand.Reader)
	require.NoError(t, err)
	key, err = configs.Keystore{}.LoadOrCreateSigningKey(t.Context(), c.SigningKeyPath(), rand.Reader)
	require.NoError(t, err)
	return c, secret, key
}

// forged writes a backup of a data directory that says that it is of a deployment.
func forged(t *testing.T, dir string, of lethe.DeploymentID, key ed25519.PrivateKey) string {
	t.Helper()
	paths, err := contents(dir, true)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "forged.tar")
	out, err := os.Create(file)
	require.NoError(t, err)
	at := time.UnixMilli(1_700_000_000_000).UTC()
	_, err = write(out, Manifest{Format: format, ID: "backup-1", CreatedAt: at, ExpiresAt: at.Add(time.Hour),
		Deployment: of, Version: "test", Whole: true}, dir, paths, key)
	require.NoError(t, err)
	require.NoError(t, out.Close())
	return file
}

// Whoever knows no key of a deployment may name it in a manifest, and sign that by a key that he
// brings along.
func TestABackupByAnotherKeyThanTheLedgersIsRefused(t *testing.T) {
	ours, secret, key := keyed(t)
	_, store, err := disk.OpenLedger(vfs.Default, service.RoleDir(ours.DataDir, configs.RoleBuild), nil)
	require.NoError(t, err)
	require.NoError(t, store.Close())
	theirs, _, another := keyed(t)
	of := secret.Deployment(ours.Kafka.TopicPrefix)

	put := ours
	put.DataDir = filepath.Join(t.TempDir(), "new")
	restore := Restore{Config: put, Ledger: ours.DataDir, From: forged(t, theirs.DataDir, of, another)}
	_, err = restore.Run()
	require.ErrorIs(t, err, ErrRefused)
	require.ErrorContains(t, err, "manifest.json is not signed by the key ")
	require.NoDirExists(t, put.DataDir)
	// Without a ledger nobody says who must have signed, unless a key is named.
	restore.Ledger, restore.WithoutLedger = "", true
	restore.Keys = []ed25519.PublicKey{key.Public().(ed25519.PublicKey)}
	_, err = restore.Run()
	require.ErrorContains(t, err, "manifest.json is not signed by the key ")
	restore.From, restore.Keys = forged(t, ours.DataDir, of, key), nil
	_, err = restore.Run()
	require.NoError(t, err)
}

// With brokers of others nothing would be done by the ledger that is named.
func TestALedgerIsNotPassedOver(t *testing.T) {
	c, secret, key := keyed(t)
	_, store, err := disk.OpenLedger(vfs.Default, service.RoleDir(c.DataDir, configs.RoleBuild), nil)
	require.NoError(t, err)
	require.NoError(t, store.Close())
	file := filepath.Join(t.TempDir(), "small.tar")
	out, err := os.Create(file)
	require.NoError(t, err)
	_, err = write(out, Manifest{Format: format, ID: "backup-1", Deployment: secret.Deployment(c.Kafka.TopicPrefix)},
		c.DataDir, []string{"keys/secret"}, key)
	require.NoError(t, err)
	require.NoError(t, out.Close())
	put := c
	put.DataDir = filepath.Join(t.TempDir(), "new")
	_, err = Restore{Config: put, Ledger: c.DataDir, From: file}.Run()
	require.ErrorIs(t, err, ErrRefused)
	require.ErrorContains(t, err, "leave --ledger out")
	require.NoDirExists(t, put.DataDir)
}

// An entry of another kind than a backup has is refused before room is made for it.
func TestEntriesThatNoBackupHasAreRefused(t *testing.T) {
	c, _, _ := keyed(t)
	for want, headers := range map[string][]tar.Header{
		// The writer knows no sparse entries: the name is put in afterwards.
		`it holds "keys/big", which no backup does`: {{Name: "keys/0", PAXRecords: map[string]string{
			"XNU.sparse.major": "0", "XNU.sparse.minor": "1", "XNU.sparse.name": "keys/big", "XNU.sparse.size": "21474836480",
			"XNU.sparse.numblocks": "1", "XNU.sparse.map": "0,0",
		}, Format: tar.FormatPAX}},
		"keys/big in it has 2097152 bytes, which no key has": {{Name: "keys/big", Size: 2 << 20}},
		`it holds "instance" twice, which no backup does`:    {{Name: "instance"}, {Name: "instance"}},
		`it holds "keys/../../x", which no backup does`:      {{Name: "keys/../../x"}},
		`it holds "/x", which no backup does`:                {{Name: "/x"}},
		`it holds "keys/x", which no backup does`:            {{Name: "keys/x", Typeflag: tar.TypeSymlink, Linkname: "/"}},
	} {
		var text bytes.Buffer
		archive := tar.NewWriter(&text)
		for _, h := range headers {
			require.NoError(t, archive.WriteHeader(&h))
			_, err := archive.Write(make([]byte, h.Size))
			require.NoError(t, err)
		}
		require.NoError(t, archive.Close())
		file := filepath.Join(t.TempDir(), "hostile.tar")
		content := strings.ReplaceAll(text.String(), "XNU.sparse", "GNU.sparse")
		require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
		_, err := open(file, keysOr(nil, c))
		require.ErrorIs(t, err, ErrRefused)
		require.ErrorContains(t, err, want)
	}
}
