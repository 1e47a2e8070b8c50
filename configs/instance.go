package configs

import (
	"encoding/hex"
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

// instanceBytes is the length of a data directory's identity.
const instanceBytes = 16

// InstancePath is the path of the identity of a data directory.
func InstancePath(dataDir string) string { return filepath.Join(dataDir, "instance") }

// instanceRemedy is the remedy for an identity that is lost. Under another one the directory is another to receipts.
const instanceRemedy = "put it back from a copy, such as a backup; without one remove it and start once with " +
	"--take-over: receipts then name the directory of before, which is this one, as not searched"

// LoadOrCreateInstance reads the identity of a data directory, 32 hexadecimal digits, or creates it
// from the random source at the first start. It distinguishes two directories with copies of the
// same data, and is no secret.
func LoadOrCreateInstance(dataDir string, random io.Reader) (string, error) {
	path := InstancePath(dataDir)
	content, err := readOrCreate(path, func() ([]byte, error) {
		fresh := make([]byte, instanceBytes)
		if _, err := io.ReadFull(random, fresh); err != nil {
			return nil, fmt.Errorf("random source: %w", err)
		}
		return append(hex.AppendEncode(nil, fresh), '\n'), nil
	})
	if err != nil {
		return "", fmt.Errorf("instance: %w", err)
	}
	identity := strings.TrimSpace(string(content))
	if raw, err := hex.DecodeString(identity); err != nil || len(raw) != instanceBytes {
		return "", fmt.Errorf("instance: %w %s: not %d hexadecimal digits (%s)", ErrKeyFile, path,
			hex.EncodedLen(instanceBytes), instanceRemedy)
	}
	return identity, nil
}
