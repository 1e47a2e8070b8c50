package configs

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"lethe"
	"lethe/internal/atomicfile"
	"lethe/internal/kms"
)

// Keystore reads and writes the files of a deployment's keys: in plain form, or sealed by a Keeper.
// The zero Keystore has no Keeper.
type Keystore struct{ keeper kms.Keeper }

// KeyFiles are the keys of a deployment, at the paths in its configuration.
type KeyFiles struct{ config Config }

// KeysOf returns the keys of a configuration. It makes no requests yet.
func KeysOf(c Config) KeyFiles { return KeyFiles{c} }

// signingKeyPlace says where the key that signs receipts is, to people who named another place.
const signingKeyPlace = "name the data directory of the process that plays " + RoleErasure + " with --data-dir"

// Store returns the Keystore of the configuration.
func (k KeyFiles) Store() (Keystore, error) {
	keeper, err := k.config.KMS.Open()
	return Keystore{keeper}, err
}

// String returns the name of the keeper.
func (k Keystore) String() string {
	if k.keeper == nil {
		return "files"
	}
	return k.keeper.String()
}

// read reads a file that only its owner may read. It rejects a sealed file without a keeper, and a
// plain file with one: neither happens by accident. Errors: ErrKeyFile, kms.ErrAway, kms.ErrRefused,
// fs.ErrNotExist.
func (k Keystore) read(ctx context.Context, path string) ([]byte, error) {
	content, err := readPrivate(path)
	if err != nil {
		return nil, err
	}
	return k.open(ctx, path, content)
}

// open unseals the content of a file.
func (k Keystore) open(ctx context.Context, path string, content []byte) ([]byte, error) {
	switch sealed := kms.IsSealed(content); {
	case sealed && k.keeper == nil:
		return nil, fmt.Errorf("%w %s: it is sealed by a key management system: set kms.address and what belongs to it",
			ErrKeyFile, path)
	case !sealed && k.keeper != nil:
		return nil, fmt.Errorf("%w %s: it lies there open, and kms.address is set: lethe keys seal seals it", ErrKeyFile,
			path)
	case !sealed:
		return content, nil
	}
	plain, err := k.keeper.Unseal(ctx, string(content))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return plain, nil
}

// seal returns the content in the form of the file.
func (k Keystore) seal(ctx context.Context, content []byte) ([]byte, error) {
	if k.keeper == nil {
		return content, nil
	}
	text, err := k.keeper.Seal(ctx, content)
	return []byte(text + "\n"), err
}

// readOrCreate is readOrCreate for files that may be sealed.
func (k Keystore) readOrCreate(ctx context.Context, path string, create func() ([]byte, error)) ([]byte, error) {
	content, err := readOrCreate(path, func() ([]byte, error) {
		fresh, err := create()
		if err != nil {
			return nil, err
		}
		return k.seal(ctx, fresh)
	})
	if err != nil {
		return nil, err
	}
	return k.open(ctx, path, content)
}

// Secret reads the secret of an existing deployment.
func (k KeyFiles) Secret(ctx context.Context) (lethe.Secret, error) {
	store, err := k.Store()
	if err != nil {
		return lethe.Secret{}, err
	}
	path := k.config.SecretPath()
	if _, err := os.Stat(path); err != nil && k.config.SecretFile == "" {
		return lethe.Secret{}, fmt.Errorf("the deployment's secret: %w (is %s a data directory of lethe?)", err,
			k.config.DataDir)
	}
	return store.ReadSecret(ctx, path)
}

// SigningKey reads the key that signs receipts, of an existing deployment, and writes its public key
// next to it.
func (k KeyFiles) SigningKey(ctx context.Context) (ed25519.PrivateKey, error) {
	store, err := k.Store()
	if err != nil {
		return nil, err
	}
	path := k.config.SigningKeyPath()
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("signing key: %w (%s)", err, signingKeyPlace)
	}
	return store.LoadOrCreateSigningKey(ctx, path, nil)
}

// Before reads the previous signing key, if it has yet to introduce the current one, or returns nil. It is nil,
// too, if a rotation was interrupted before it created a new key.
func (k KeyFiles) Before(ctx context.Context) (ed25519.PrivateKey, error) {
	store, err := k.Store()
	if err != nil {
		return nil, err
	}
	before, err := store.KeyBefore(ctx, k.config.SigningKeyPath())
	if err != nil || before == nil {
		return nil, err
	}
	now, err := store.ReadSigningKey(ctx, k.config.SigningKeyPath())
	if err != nil || now.Equal(before) {
		return nil, err
	}
	return before, nil
}

// Files lists the existing files of private keys.
func (k KeyFiles) Files() (list []string, err error) {
	c := k.config
	for _, path := range []string{
		c.SecretPath(), LedgerSecretPath(c.SecretPath()), c.SigningKeyPath(), keyBeforePath(c.SigningKeyPath()),
	} {
		_, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, path)
	}
	return list, nil
}

// SealFile seals a plain key file with the keeper of a Keystore, and reports whether it did: a
// sealed file is left unchanged. The file is replaced only after the sealed content has been
// unsealed successfully.
func (k Keystore) SealFile(ctx context.Context, path string) (changed bool, err error) {
	content, err := readPrivate(path)
	if err != nil || kms.IsSealed(content) {
		return false, err
	}
	sealed, err := k.seal(ctx, content)
	if err != nil {
		return false, err
	}
	again, err := k.open(ctx, path, sealed)
	if err == nil && string(again) != string(content) {
		err = fmt.Errorf("%w: %s: what %s has unsealed is not what it has sealed: nothing was replaced", kms.ErrRefused,
			path, k)
	}
	if err != nil {
		return false, err
	}
	return true, atomicfile.Write(path, sealed, 0o600)
}

// UnsealFile replaces a sealed key file by a plain one, and reports whether it did.
func (k Keystore) UnsealFile(ctx context.Context, path string) (changed bool, err error) {
	content, err := readPrivate(path)
	if err != nil || !kms.IsSealed(content) {
		return false, err
	}
	plain, err := k.open(ctx, path, content)
	if err != nil {
		return false, err
	}
	return true, atomicfile.Write(path, plain, 0o600)
}
