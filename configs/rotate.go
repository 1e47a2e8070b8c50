package configs

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"lethe/internal/atomicfile"
)

// ErrRotation means that a rotation of the signing key is already in progress.
var ErrRotation = errors.New("the signing key was rotated, and the new one is not introduced yet")

// RotateSigningKey replaces the key that signs receipts. The previous one is kept in a separate
// file until ForgetKeyBefore, because it has to introduce the new one in the transparency log, and
// its public key stays listed (ReadPublicKeys). An interrupted call is completed by the next one,
// or by LoadOrCreateSigningKey. Errors: ErrRotation, ErrKeyFile.
func (k Keystore) RotateSigningKey(
	ctx context.Context, path string, random io.Reader,
) (before, now ed25519.PrivateKey, err error) {
	content, err := readPrivate(path) // unchanged, sealed or not
	if err != nil {
		return nil, nil, fmt.Errorf("signing key: %w (%s)", err, signingKeyPlace)
	}
	if before, err = k.ReadSigningKey(ctx, path); err != nil {
		return nil, nil, err
	}
	under, err := k.KeyBefore(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	if under != nil && !under.Equal(before) {
		return nil, nil, fmt.Errorf("%w (start lethe run, which does that)", ErrRotation)
	}
	if err := atomicfile.Write(keyBeforePath(path), content, 0o600); err != nil {
		return nil, nil, fmt.Errorf("signing key: %w", err)
	}
	fresh, err := newSigningKey(random)
	if err == nil {
		fresh, err = k.seal(ctx, fresh)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("signing key: %w", err)
	}
	if err := atomicfile.Write(path, fresh, 0o600); err != nil {
		return nil, nil, fmt.Errorf("signing key: %w", err)
	}
	now, err = k.LoadOrCreateSigningKey(ctx, path, nil)
	return before, now, err
}

func keyBeforePath(path string) string { return besidePath(path, ".before") }

// KeyBefore returns the previous signing key, if it has yet to introduce the one at path, or nil.
func (k Keystore) KeyBefore(ctx context.Context, path string) (ed25519.PrivateKey, error) {
	content, err := k.read(ctx, keyBeforePath(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("signing key before: %w", err)
	}
	key, err := ParseSigningKey(content)
	if err != nil {
		return nil, fmt.Errorf("signing key before: %w %s: %w", ErrKeyFile, keyBeforePath(path), err)
	}
	return key, nil
}

// ForgetKeyBefore deletes the previous private key.
func ForgetKeyBefore(path string) error {
	err := os.Remove(keyBeforePath(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
