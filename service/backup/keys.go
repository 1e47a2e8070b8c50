package backup

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"lethe/configs"
	"lethe/internal/atomicfile"
	"lethe/internal/kms"
)

// keysOr returns the keys one of which must have signed a backup: the known ones, or else the one
// in the backup.
func keysOr(known []ed25519.PublicKey, c configs.Config) func(files map[string][]byte) ([]ed25519.PublicKey, error) {
	return func(files map[string][]byte) ([]ed25519.PublicKey, error) {
		if len(known) > 0 {
			return known, nil
		}
		return keysIn(files, c)
	}
}

// keysIn returns the keys in a backup's own files: the signing key, and those listed in the file of
// its public key.
func keysIn(files map[string][]byte, c configs.Config) ([]ed25519.PublicKey, error) {
	at := func(path string) ([]byte, bool) {
		rel, err := filepath.Rel(c.DataDir, path)
		data, found := files[filepath.ToSlash(rel)]
		return data, err == nil && found
	}
	data, found := at(c.SigningKeyPath())
	if !found {
		return nil, errors.New("the key that signed it is not in it: name it with --public-key")
	}
	var keys []ed25519.PublicKey
	// A key sealed by a key management system cannot be used here: its public key is in a separate
	// file.
	if !kms.IsSealed(data) {
		private, err := configs.ParseSigningKey(data)
		if err != nil {
			return nil, fmt.Errorf("the signing key in it is damaged: it was altered (%w)", err)
		}
		keys = append(keys, private.Public().(ed25519.PublicKey))
	}
	listed := configs.PublicKeyPath(c.SigningKeyPath())
	if data, found = at(listed); found {
		more, err := configs.ParsePublicKeys(filepath.Base(listed), data)
		if err != nil {
			return nil, err
		}
		keys = append(keys, more...)
	}
	if len(keys) == 0 {
		return nil, errors.New("the key that signed it is sealed, and its public key is not in it: name it with --public-key")
	}
	return keys, nil
}

// ownSecret reads the secret of a backup, and returns a function that restores it: the backup's
// stores have pseudonyms of that secret, and the newest ledger may belong to a deployment that has
// rotated its secret since. Both share the secret of the ledger.
func ownSecret(c configs.Config) (keep func() error, err error) {
	if c.SecretFile != "" {
		return func() error { return nil }, nil
	}
	kept := make(map[string][]byte)
	for _, path := range []string{c.SecretPath(), configs.LedgerSecretPath(c.SecretPath())} {
		content, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		kept[path] = content
	}
	return func() error {
		for path, content := range kept {
			err := os.Remove(path)
			if errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
			if err == nil && content != nil {
				err = atomicfile.Write(path, content, 0o600)
			}
			if err != nil {
				return fmt.Errorf("secret: %w", err)
			}
		}
		return nil
	}, nil
}

// signers implements source.
func (f folder) signers() ([]ed25519.PublicKey, error) {
	path := f.config.SigningKeyPath()
	private, err := configs.KeysOf(f.config).SigningKey(context.Background())
	if err != nil {
		return nil, err
	}
	listed, err := configs.ReadPublicKeys(configs.PublicKeyPath(path))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return append([]ed25519.PublicKey{private.Public().(ed25519.PublicKey)}, listed...), nil
}

// signers implements source.
func (l later) signers() ([]ed25519.PublicKey, error) { return keysIn(l.keys, l.config) }
