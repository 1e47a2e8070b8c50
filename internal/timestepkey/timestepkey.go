// Package timestepkey makes store keys for data per timestep: a prefix, then the timestep as
// eight big-endian bytes, so that keys of one prefix sort by timestep.
package timestepkey

import (
	"encoding/binary"
	"fmt"

	"lethe"
)

// Bytes is the length of a timestep in a key.
const Bytes = 8

// New returns the key of a timestep under a prefix.
func New[P ~string | ~[]byte](prefix P, t lethe.Timestep) []byte {
	return binary.BigEndian.AppendUint64(append(make([]byte, 0, len(prefix)+Bytes), prefix...), uint64(t))
}

// Parse reads a key that consists of prefix and timestep only. The error contains lengths and not
// the key, which may hold personal data.
func Parse(prefix string, key []byte) (lethe.Timestep, error) {
	t, rest, err := Cut(prefix, key)
	if err == nil && len(rest) > 0 {
		return 0, fmt.Errorf("key of %d bytes under %q, want %d", len(key), prefix, len(prefix)+Bytes)
	}
	return t, err
}

// Cut reads a key that continues after the timestep, and returns the rest.
func Cut(prefix string, key []byte) (t lethe.Timestep, rest []byte, err error) {
	if len(key) < len(prefix)+Bytes || string(key[:len(prefix)]) != prefix {
		return 0, nil, fmt.Errorf("key of %d bytes is not %q and a timestep", len(key), prefix)
	}
	key = key[len(prefix):]
	return lethe.Timestep(binary.BigEndian.Uint64(key)), key[Bytes:], nil
}
