package configs

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"

	"lethe"
)

// LoadOrCreateSecret reads the deployment's secret, 64 hexadecimal digits, or
// creates it from the random source with mode 0600 at the first start.
//
// Losing it cuts the link between ids and everything kept on disk, so back it
// up apart from the data. The error wraps ErrKeyFile if others may read the
// file or if it holds something else; it never repeats the content.
func LoadOrCreateSecret(path string, random io.Reader) (lethe.Secret, error) {
	content, err := readOrCreate(path, func() ([]byte, error) {
		var fresh lethe.Secret
		if _, err := io.ReadFull(random, fresh[:]); err != nil {
			return nil, fmt.Errorf("random source: %w", err)
		}
		return append(hex.AppendEncode(nil, fresh[:]), '\n'), nil
	})
	if err != nil {
		return lethe.Secret{}, fmt.Errorf("secret: %w", err)
	}
	return parseSecret(path, content)
}

// ReadSecret reads a secret such as LoadOrCreateSecret makes, and makes none.
func ReadSecret(path string) (lethe.Secret, error) {
	content, err := readPrivate(path)
	if err != nil {
		return lethe.Secret{}, fmt.Errorf("secret: %w", err)
	}
	return parseSecret(path, content)
}

func parseSecret(path string, content []byte) (lethe.Secret, error) {
	digits := bytes.TrimSpace(content)
	var secret lethe.Secret
	if len(digits) != hex.EncodedLen(len(secret)) {
		return lethe.Secret{}, fmt.Errorf("secret: %w %s: %d characters, want %d hexadecimal digits",
			ErrKeyFile, path, len(digits), hex.EncodedLen(len(secret)))
	}
	if _, err := hex.Decode(secret[:], digits); err != nil {
		// The error of package hex would show a character of the secret.
		return lethe.Secret{}, fmt.Errorf("secret: %w %s: not hexadecimal digits only", ErrKeyFile, path)
	}
	return secret, nil
}
