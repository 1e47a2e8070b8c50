package configs_test

import (
	"crypto/ed25519"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/configs"
)

func TestARotatedKeyKeepsThoseOfBefore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys", "receipt-ed25519.pem")
	random := &counting{}
	_, _, err := configs.Keystore{}.RotateSigningKey(t.Context(), path, random)
	require.ErrorIs(t, err, os.ErrNotExist, "there is nothing to rotate")
	first, err := configs.Keystore{}.LoadOrCreateSigningKey(t.Context(), path, random)
	require.NoError(t, err)
	keys := []ed25519.PublicKey{first.Public().(ed25519.PublicKey)}
	for range 3 {
		before, now, err := configs.Keystore{}.RotateSigningKey(t.Context(), path, random)
		require.NoError(t, err)
		require.False(t, now.Equal(before))
		introducing, err := configs.Keystore{}.KeyBefore(t.Context(), path)
		require.NoError(t, err)
		require.Equal(t, before, introducing)
		requireMode(t, filepath.Join(filepath.Dir(path), "receipt-ed25519.before.pem"), 0o600)

		_, _, err = configs.Keystore{}.RotateSigningKey(t.Context(), path, random)
		require.ErrorIs(t, err, configs.ErrRotation)
		loaded, err := configs.Keystore{}.LoadOrCreateSigningKey(t.Context(), path, random)
		require.NoError(t, err)
		require.Equal(t, now, loaded)
		require.NoError(t, configs.ForgetKeyBefore(path))
		require.NoError(t, configs.ForgetKeyBefore(path))
		introducing, err = configs.Keystore{}.KeyBefore(t.Context(), path)
		require.NoError(t, err)
		require.Nil(t, introducing)

		keys = append([]ed25519.PublicKey{now.Public().(ed25519.PublicKey)}, keys...)
		listed, err := configs.ReadPublicKeys(configs.PublicKeyPath(path))
		require.NoError(t, err)
		require.Equal(t, keys, listed)
	}
}

// Cut off after any of its writes, a rotation is finished by what comes next.
func TestARotationThatIsCutOffIsFinished(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "key.pem")
	random := &counting{}
	first, err := configs.Keystore{}.LoadOrCreateSigningKey(t.Context(), path, random)
	require.NoError(t, err)
	public, err := os.ReadFile(configs.PublicKeyPath(path))
	require.NoError(t, err)
	old, err := os.ReadFile(path)
	require.NoError(t, err)

	// After the first write: the old key is there twice, and signs.
	require.NoError(t, os.WriteFile(filepath.Join(folder, "key.before.pem"), old, 0o600))
	key, err := configs.Keystore{}.LoadOrCreateSigningKey(t.Context(), path, random)
	require.NoError(t, err)
	require.Equal(t, first, key)
	c := configs.Default()
	c.SigningKeyFile = path
	introducing, err := configs.KeysOf(c).Before(t.Context())
	require.NoError(t, err)
	require.Nil(t, introducing, "there is nothing to introduce")
	_, now, err := configs.Keystore{}.RotateSigningKey(t.Context(), path, random)
	require.NoError(t, err)
	introducing, err = configs.KeysOf(c).Before(t.Context())
	require.NoError(t, err)
	require.Equal(t, first, introducing)

	// After the second: the file of the public key has the old one alone.
	require.NoError(t, os.WriteFile(configs.PublicKeyPath(path), public, 0o600))
	key, err = configs.Keystore{}.LoadOrCreateSigningKey(t.Context(), path, random)
	require.NoError(t, err)
	require.Equal(t, now, key)
	listed, err := configs.ReadPublicKeys(configs.PublicKeyPath(path))
	require.NoError(t, err)
	require.Equal(t, []ed25519.PublicKey{now.Public().(ed25519.PublicKey), first.Public().(ed25519.PublicKey)}, listed)
}

func TestADataDirectoryKeepsItsIdentity(t *testing.T) {
	dir := t.TempDir()
	first, err := configs.LoadOrCreateInstance(dir, strings.NewReader("0123456789abcdef"))
	require.NoError(t, err)
	require.Equal(t, "30313233343536373839616263646566", first)
	again, err := configs.LoadOrCreateInstance(dir, strings.NewReader(""))
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.NoError(t, os.WriteFile(configs.InstancePath(dir), []byte("30"), 0o600))
	_, err = configs.LoadOrCreateInstance(dir, strings.NewReader(""))
	require.ErrorIs(t, err, configs.ErrKeyFile)
	require.ErrorContains(t, err, "put it back from a copy")
	require.ErrorContains(t, err, "--take-over: receipts then name the directory of before, which is this one, as not "+
		"searched")
	_, err = configs.LoadOrCreateInstance(t.TempDir(), strings.NewReader("short"))
	require.ErrorContains(t, err, "random source")
}
