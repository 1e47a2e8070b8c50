package configs

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"lethe"
	"lethe/internal/atomicfile"
)

// LoadOrCreateSecret is the method of a Keystore with plain files.
func LoadOrCreateSecret(path string, random io.Reader) (lethe.Secret, error) {
	return Keystore{}.LoadOrCreateSecret(context.Background(), path, random)
}

// LoadOrCreateSecret reads the deployment's secret, 64 hexadecimal digits, or creates it from the
// random source with mode 0600 at the first start. After a rotation the secret that the deployment
// was created with is in a separate file (LedgerSecretPath).
//
// Losing it breaks the link between ids and all stored data, so back it up separately from the
// data. The error wraps ErrKeyFile if others may read the file or if its content is invalid; it
// never repeats the content.
func (k Keystore) LoadOrCreateSecret(ctx context.Context, path string, random io.Reader) (lethe.Secret, error) {
	content, err := k.readOrCreate(ctx, path, func() ([]byte, error) { return newSecret(random) })
	if err != nil {
		return lethe.Secret{}, fmt.Errorf("secret: %w", err)
	}
	return k.withLedger(ctx, path, content)
}

func newSecret(random io.Reader) ([]byte, error) {
	var fresh [lethe.SecretKeyBytes]byte
	if _, err := io.ReadFull(random, fresh[:]); err != nil {
		return nil, fmt.Errorf("random source: %w", err)
	}
	return formatSecret(fresh), nil
}

func formatSecret(key [lethe.SecretKeyBytes]byte) []byte {
	return append(hex.AppendEncode(nil, key[:]), '\n')
}

// ReadSecret reads a secret such as LoadOrCreateSecret makes, without creating one.
func (k Keystore) ReadSecret(ctx context.Context, path string) (lethe.Secret, error) {
	content, err := k.read(ctx, path)
	if err != nil {
		return lethe.Secret{}, fmt.Errorf("secret: %w", err)
	}
	return k.withLedger(ctx, path, content)
}

// LedgerSecretPath is the file of the secret that the deployment was created with, once pseudonyms
// use another one: the ledger identifies erased data by it.
func LedgerSecretPath(path string) string { return path + ".ledger" }

// WriteRotatedSecret writes a secret of two keys to new files: the ledger's first, so that the
// other is never read without it. The error is fs.ErrExist if there is one.
func (k Keystore) WriteRotatedSecret(ctx context.Context, path string, secret lethe.Secret) error {
	for _, one := range []struct {
		path string
		key  [lethe.SecretKeyBytes]byte
	}{{LedgerSecretPath(path), secret.Ledger().Key()}, {path, secret.Key()}} {
		content, err := k.seal(ctx, formatSecret(one.key))
		if err == nil {
			err = atomicfile.Create(one.path, content, 0o600)
		}
		if err != nil {
			return fmt.Errorf("secret: %w", err)
		}
	}
	return nil
}

// withLedger reads the content of a secret's file, and the ledger's secret.
func (k Keystore) withLedger(ctx context.Context, path string, content []byte) (lethe.Secret, error) {
	key, err := parseSecret(path, content)
	if err != nil {
		return lethe.Secret{}, err
	}
	beside := LedgerSecretPath(path)
	begun, err := k.read(ctx, beside)
	if errors.Is(err, fs.ErrNotExist) {
		return lethe.NewSecret(key), nil
	}
	if err != nil {
		return lethe.Secret{}, fmt.Errorf("secret: %w", err)
	}
	before, err := parseSecret(beside, begun)
	if err != nil {
		return lethe.Secret{}, err
	}
	return lethe.NewSecret(before).Follow(key), nil
}

func parseSecret(path string, content []byte) (key [lethe.SecretKeyBytes]byte, err error) {
	digits := bytes.TrimSpace(content)
	if len(digits) != hex.EncodedLen(len(key)) {
		return key, fmt.Errorf("secret: %w %s: %d characters, want %d hexadecimal digits (put it back from a copy)",
			ErrKeyFile, path, len(digits), hex.EncodedLen(len(key)))
	}
	var out [lethe.SecretKeyBytes]byte
	if _, err := hex.Decode(out[:], digits); err != nil {
		// The error of package hex would reveal a character of the secret.
		return key, fmt.Errorf("secret: %w %s: not hexadecimal digits only (put it back from a copy)", ErrKeyFile, path)
	}
	return out, nil
}
