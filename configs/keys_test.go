package configs_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/configs"
)

// counting is a random source that gives 1, 2, 3, ...
type counting struct{ next byte }

func (c *counting) Read(p []byte) (int, error) {
	for i := range p {
		c.next++
		p[i] = c.next
	}
	return len(p), nil
}

func requireMode(t *testing.T, path string, want os.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	if runtime.GOOS != "windows" {
		require.Equal(t, want, info.Mode().Perm(), path)
	}
}

func TestSecretIsCreatedOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data", "keys", "secret")
	first, err := configs.LoadOrCreateSecret(path, &counting{})
	require.NoError(t, err)
	require.Equal(t, byte(1), first[0])
	require.Equal(t, byte(32), first[31])
	again, err := configs.LoadOrCreateSecret(path, &counting{next: 100})
	require.NoError(t, err)
	require.Equal(t, first, again)
	requireMode(t, path, 0o600)
	requireMode(t, filepath.Dir(path), 0o700)
	files, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, files, 1, "no temporary file may stay")
}

// Processes that start together must end up with the same keys.
func TestKeysAreTheSameForAllWhoCreateThem(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "keys")
	got := make([]lethe.Secret, 16)
	signing := make([]ed25519.PrivateKey, len(got))
	var wait sync.WaitGroup
	for i := range got {
		wait.Go(func() {
			var err, signingErr error
			random := &counting{next: byte(10 * i)}
			got[i], err = configs.LoadOrCreateSecret(filepath.Join(folder, "secret"), random)
			path := filepath.Join(folder, "key.pem")
			signing[i], signingErr = configs.Keystore{}.LoadOrCreateSigningKey(t.Context(), path, random)
			if err = errors.Join(err, signingErr); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	for i := range got {
		require.Equal(t, got[0], got[i])
		require.Equal(t, signing[0], signing[i])
	}
}

func TestSecretRefusals(t *testing.T) {
	digits := strings.Repeat("5e", 32)
	for name, c := range map[string]struct {
		content string
		mode    os.FileMode
		want    string
	}{
		"short":       {digits[:62], 0o600, "62 characters, want 64 hexadecimal digits"},
		"long":        {digits + "00", 0o600, "66 characters, want 64 hexadecimal digits"},
		"empty":       {"", 0o600, "0 characters"},
		"not hex":     {"q" + digits[1:], 0o600, "not hexadecimal digits only"},
		"huge":        {strings.Repeat(digits, 1000), 0o600, "64000 bytes, want at most 16384"},
		"group reads": {digits, 0o640, "mode 0640 lets others read it, want 0600: run `chmod 600 "},
		"all read":    {digits, 0o604, "mode 0604 lets others read it"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "secret")
			require.NoError(t, os.WriteFile(path, []byte(c.content), c.mode))
			require.NoError(t, os.Chmod(path, c.mode))
			secret, err := configs.LoadOrCreateSecret(path, &counting{})
			require.ErrorIs(t, err, configs.ErrKeyFile)
			require.ErrorContains(t, err, c.want)
			require.ErrorContains(t, err, path)
			require.NotContains(t, err.Error(), "5e5e", "an error must not show the secret")
			require.Zero(t, secret)
			left, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, c.content, string(left), "a key file must never be replaced")
		})
	}
	_, err := configs.LoadOrCreateSecret(t.TempDir(), &counting{})
	require.ErrorContains(t, err, "not a regular file")

	// As an orchestrator mounts it.
	path := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(path, []byte(digits), 0o440))
	require.NoError(t, os.Chmod(path, 0o440))
	_, err = configs.LoadOrCreateSecret(path, &counting{})
	require.NoError(t, err)
}

func TestSecretNeedsRandomness(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	_, err := configs.LoadOrCreateSecret(path, bytes.NewReader(make([]byte, 31)))
	require.ErrorContains(t, err, "random source")
	require.NoFileExists(t, path)
}

func TestSecretFileMayEndWithSpace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	want := lethe.Secret{9, 8, 7}
	require.NoError(t, os.WriteFile(path, []byte("  "+hex.EncodeToString(want[:lethe.SecretKeyBytes])+"\r\n"), 0o600))
	got, err := configs.LoadOrCreateSecret(path, &counting{})
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestSigningKeyAndItsPublicKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys", "receipt-ed25519.pem")
	key, err := configs.Keystore{}.LoadOrCreateSigningKey(t.Context(), path, &counting{})
	require.NoError(t, err)
	again, err := configs.Keystore{}.LoadOrCreateSigningKey(t.Context(), path, &counting{next: 100})
	require.NoError(t, err)
	require.Equal(t, key, again)
	requireMode(t, path, 0o600)

	public := filepath.Join(filepath.Dir(path), "receipt-ed25519.pub.pem")
	require.Equal(t, public, configs.PublicKeyPath(path))
	requireMode(t, public, 0o644)
	content, err := os.ReadFile(public)
	require.NoError(t, err)
	block, _ := pem.Decode(content)
	require.Equal(t, "PUBLIC KEY", block.Type)
	parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
	require.NoError(t, err)
	message := []byte("receipt")
	require.True(t, ed25519.Verify(parsed.(ed25519.PublicKey), message, ed25519.Sign(key, message)))

	require.NoError(t, os.Remove(public))
	_, err = configs.Keystore{}.LoadOrCreateSigningKey(t.Context(), path, &counting{})
	require.NoError(t, err)
	require.FileExists(t, public, "a lost public key is written again")

	require.NoError(t, os.Remove(path))
	_, err = configs.Keystore{}.LoadOrCreateSigningKey(t.Context(), path, &counting{next: 100})
	require.ErrorIs(t, err, configs.ErrKeyFile)
	require.ErrorContains(t, err, "belongs to another private key")
}

func TestSigningKeyRefusals(t *testing.T) {
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(other)
	require.NoError(t, err)
	inPEM := func(name string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: name, Bytes: der}))
	}
	for name, c := range map[string]struct{ content, want string }{
		"no PEM":         {"key", "not one PEM block named PRIVATE KEY"},
		"another block":  {inPEM("RSA PRIVATE KEY", der), "not one PEM block named PRIVATE KEY"},
		"two blocks":     {inPEM("PRIVATE KEY", der) + inPEM("PRIVATE KEY", der), "not one PEM block named PRIVATE KEY"},
		"not PKCS 8":     {inPEM("PRIVATE KEY", der[:len(der)-1]), "not a private key in PKCS #8"},
		"another scheme": {inPEM("PRIVATE KEY", der), "holds a *rsa.PrivateKey, want an Ed25519 key"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "key.pem")
			require.NoError(t, os.WriteFile(path, []byte(c.content), 0o600))
			_, err := configs.Keystore{}.LoadOrCreateSigningKey(t.Context(), path, &counting{})
			require.ErrorIs(t, err, configs.ErrKeyFile)
			require.ErrorContains(t, err, c.want)
			require.NoFileExists(t, configs.PublicKeyPath(path))
		})
	}
}
