package configs

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"lethe/internal/atomicfile"
)

const (
	publicKeyBlock = "PUBLIC KEY"
	// mostKeyBytes is enough for thousands of keys: such files come from other parties.
	mostKeyBytes = 1 << 20
)

// PublicKeyPath is the file of the public key of the signing key at path: receipt.pub.pem for
// receipt.pem. It also contains the previous public keys, newest first.
func PublicKeyPath(path string) string { return besidePath(path, ".pub") }

// besidePath inserts a word before the extension of a file.
func besidePath(path, word string) string {
	extension := filepath.Ext(path)
	return strings.TrimSuffix(path, extension) + word + extension
}

// keepPublicKey writes the public key unless the file exists. One that belongs to another private
// key is not replaced: receipts may have been checked with it. During a rotation the previous key
// is listed after the new one.
func keepPublicKey(path string, key, before ed25519.PrivateKey) error {
	public := key.Public().(ed25519.PublicKey)
	known, err := ReadPublicKeys(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && before == nil:
		err = writePublicKeys(path, []ed25519.PublicKey{public}, atomicfile.Create)
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		if known, err = ReadPublicKeys(path); err != nil { // another process has written it
			return err
		}
	case errors.Is(err, fs.ErrNotExist):
		known = []ed25519.PublicKey{before.Public().(ed25519.PublicKey)}
	case err != nil:
		return fmt.Errorf("%w: %w: put it back, or remove this file to have it written again", ErrKeyFile, err)
	}
	if known[0].Equal(public) {
		return nil
	}
	if before != nil && known[0].Equal(before.Public()) {
		return writePublicKeys(path, append([]ed25519.PublicKey{public}, known...), atomicfile.Write)
	}
	return fmt.Errorf("%w %s: belongs to another private key: put that one back, "+
		"or remove this file to have it written again",
		ErrKeyFile, path)
}

func writePublicKeys(
	path string, keys []ed25519.PublicKey, write func(path string, data []byte, mode fs.FileMode) error,
) error {
	text, err := FormatPublicKeys(keys...)
	if err != nil {
		return err
	}
	return write(path, text, 0o644)
}

// FormatPublicKeys writes keys in the format of ReadPublicKeys: PKIX in PEM, in their order.
func FormatPublicKeys(keys ...ed25519.PublicKey) (text []byte, err error) {
	for _, key := range keys {
		der, err := x509.MarshalPKIXPublicKey(key)
		if err != nil {
			return nil, err
		}
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: publicKeyBlock, Bytes: der})...)
	}
	return text, nil
}

// ReadPublicKey reads an Ed25519 public key as PKIX in PEM, such as LoadOrCreateSigningKey writes
// next to the private one. If there are several, it returns the first, which is the newest.
func ReadPublicKey(path string) (ed25519.PublicKey, error) {
	keys, err := ReadPublicKeys(path)
	if err != nil {
		return nil, err
	}
	return keys[0], nil
}

// ReadPublicKeys reads the public keys of a deployment: the current one followed by the previous
// ones. There is at least one.
func ReadPublicKeys(path string) (keys []ed25519.PublicKey, err error) {
	data, err := atomicfile.Read(path, mostKeyBytes)
	if err != nil {
		return nil, err
	}
	return ParsePublicKeys(path, data)
}

// ParsePublicKeys is ReadPublicKeys for the content of a file, which errors name.
func ParsePublicKeys(path string, data []byte) (keys []ed25519.PublicKey, err error) {
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != publicKeyBlock {
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
		keys = append(keys, public)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("%s is not a PEM file", path)
	}
	return keys, nil
}
