package configs

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"

	"lethe/internal/atomicfile"
)

// LoadOrCreateSigningKey reads the key that signs receipts, Ed25519 as PKCS #8 in PEM, or creates
// it from the random source with mode 0600 at the first start. The public key is written to the
// same directory, at PublicKeyPath, for checking receipts.
//
// The error wraps ErrKeyFile if others may read the file, if its content is invalid, or if the
// public key in its directory belongs to another key.
func (k Keystore) LoadOrCreateSigningKey(
	ctx context.Context, path string, random io.Reader,
) (ed25519.PrivateKey, error) {
	content, err := k.readOrCreate(ctx, path, func() ([]byte, error) { return newSigningKey(random) })
	if err != nil {
		return nil, fmt.Errorf("signing key: %w", err)
	}
	key, err := ParseSigningKey(content)
	if err != nil {
		return nil, fmt.Errorf("signing key: %w %s: %w", ErrKeyFile, path, err)
	}
	before, err := k.KeyBefore(ctx, path)
	if err != nil {
		return nil, err
	}
	if err := keepPublicKey(PublicKeyPath(path), key, before); err != nil {
		return nil, fmt.Errorf("signing key: %w", err)
	}
	return key, nil
}

func newSigningKey(random io.Reader) ([]byte, error) {
	seed := make([]byte, ed25519.SeedSize)
	if _, err := io.ReadFull(random, seed); err != nil {
		return nil, fmt.Errorf("random source: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(ed25519.NewKeyFromSeed(seed))
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

// CreateSigningKey creates a private key as a file of mode 0600. The error is fs.ErrExist if the
// file exists.
func CreateSigningKey(path string, random io.Reader) (ed25519.PrivateKey, error) {
	content, err := newSigningKey(random)
	if err != nil {
		return nil, fmt.Errorf("signing key: %w", err)
	}
	if err := atomicfile.Create(path, content, 0o600); err != nil {
		return nil, fmt.Errorf("signing key: %w", err)
	}
	return ParseSigningKey(content)
}

// ParseSigningKey decodes a private key in the format of LoadOrCreateSigningKey.
func ParseSigningKey(content []byte) (ed25519.PrivateKey, error) {
	block, rest := pem.Decode(content)
	if block == nil || block.Type != "PRIVATE KEY" || len(bytes.TrimSpace(rest)) > 0 {
		return nil, errors.New("not one PEM block named PRIVATE KEY")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errors.New("not a private key in PKCS #8")
	}
	key, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("holds a %T, want an Ed25519 key", parsed)
	}
	return key, nil
}

// ReadSigningKey is the method of a Keystore with plain files.
func ReadSigningKey(path string) (ed25519.PrivateKey, error) {
	return Keystore{}.ReadSigningKey(context.Background(), path)
}

// ReadSigningKey reads a private key such as LoadOrCreateSigningKey makes, without creating one.
func (k Keystore) ReadSigningKey(ctx context.Context, path string) (ed25519.PrivateKey, error) {
	content, err := k.read(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("signing key: %w", err)
	}
	key, err := ParseSigningKey(content)
	if err != nil {
		return nil, fmt.Errorf("signing key: %w %s: %w", ErrKeyFile, path, err)
	}
	return key, nil
}
