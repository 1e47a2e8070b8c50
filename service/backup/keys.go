package backup

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"lethe/configs"
)

// keysOr returns the keys one of which must have signed a backup: those that are known, or else
// the one in the backup.
func keysOr(known []ed25519.PublicKey, c configs.Config) func(files map[string][]byte) ([]ed25519.PublicKey, error) {
	return func(files map[string][]byte) ([]ed25519.PublicKey, error) {
		if len(known) > 0 {
			return known, nil
		}
		return keysIn(files, c)
	}
}

// keysIn are those of a backup's own files: the one that signs, and those that its public key's
// file lists.
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
	private, err := configs.ParseSigningKey(data)
	if err != nil {
		return nil, fmt.Errorf("the signing key in it is damaged: it was altered (%w)", err)
	}
	keys := []ed25519.PublicKey{private.Public().(ed25519.PublicKey)}
	listed := configs.PublicKeyPath(c.SigningKeyPath())
	if data, found = at(listed); found {
		more, err := configs.ParsePublicKeys(filepath.Base(listed), data)
		if err != nil {
			return nil, err
		}
		keys = append(keys, more...)
	}
	return keys, nil
}

// signers implements source.
func (f folder) signers() ([]ed25519.PublicKey, error) {
	path := f.config.SigningKeyPath()
	private, err := configs.ReadSigningKey(path)
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
