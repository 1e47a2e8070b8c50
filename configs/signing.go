package configs

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"lethe/internal/atomicfile"
)

// LoadOrCreateSigningKey reads the key that signs receipts, Ed25519 as PKCS #8
// in PEM, or creates it from the random source with mode 0600 at the first
// start. The public key is kept in the same folder, at PublicKeyPath, for those who
// check receipts.
//
// The error wraps ErrKeyFile if others may read the file, if it holds something
// else, or if the public key in its folder belongs to another key.
func LoadOrCreateSigningKey(path string, random io.Reader) (ed25519.PrivateKey, error) {
	content, err := readOrCreate(path, func() ([]byte, error) { return newSigningKey(random) })
	if err != nil {
		return nil, fmt.Errorf("signing key: %w", err)
	}
	key, err := parseSigningKey(content)
	if err != nil {
		return nil, fmt.Errorf("signing key: %w %s: %w", ErrKeyFile, path, err)
	}
	if err := keepPublicKey(PublicKeyPath(path), key); err != nil {
		return nil, fmt.Errorf("signing key: %w", err)
	}
	return key, nil
}

// PublicKeyPath is where the public key of the signing key at path is kept:
// receipt.pub.pem for receipt.pem.
func PublicKeyPath(path string) string {
	extension := filepath.Ext(path)
	return strings.TrimSuffix(path, extension) + ".pub" + extension
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

func parseSigningKey(content []byte) (ed25519.PrivateKey, error) {
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

// keepPublicKey writes the public key unless it is there. One that belongs to
// another private key is not replaced: receipts may have been checked with it.
func keepPublicKey(path string, key ed25519.PrivateKey) error {
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return err
	}
	want := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	got, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = atomicfile.Create(path, want, 0o644); !errors.Is(err, fs.ErrExist) {
			return err
		}
		got, err = os.ReadFile(path) // another process was first
	}
	if err != nil {
		return err
	}
	if !bytes.Equal(bytes.TrimSpace(got), bytes.TrimSpace(want)) {
		return fmt.Errorf("%w %s: belongs to another private key: put that one back, "+
			"or remove this file to have it written anew",
			ErrKeyFile, path)
	}
	return nil
}

// ReadPublicKey reads an Ed25519 public key as PKIX in PEM, such as LoadOrCreateSigningKey
// keeps beside the private one.
func ReadPublicKey(path string) (ed25519.PublicKey, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, fmt.Errorf("%s is not a PEM file", path)
	}
	if block.Type != "PUBLIC KEY" {
		return nil, fmt.Errorf("%s holds a %s, want the PUBLIC KEY that belongs to it", path, block.Type)
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	public, ok := key.(ed25519.PublicKey)
	if !ok {
		return nil, fmt.Errorf("%s holds no Ed25519 key", path)
	}
	return public, nil
}

// ReadSigningKey reads a private key such as LoadOrCreateSigningKey makes, and makes none.
func ReadSigningKey(path string) (ed25519.PrivateKey, error) {
	content, err := readPrivate(path)
	if err != nil {
		return nil, fmt.Errorf("signing key: %w", err)
	}
	key, err := parseSigningKey(content)
	if err != nil {
		return nil, fmt.Errorf("signing key: %w %s: %w", ErrKeyFile, path, err)
	}
	return key, nil
}
