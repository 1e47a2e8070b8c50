package stored

import (
	"fmt"

	"lethe"
)

// PseudonymBytes is the length of a pseudonym in a key.
const PseudonymBytes = len(lethe.Pseudonym{})

// Key is a kind and the pseudonyms that it is about.
func Key(kind byte, about ...lethe.Pseudonym) []byte {
	return AppendPseudonyms(append(make([]byte, 0, 1+len(about)*PseudonymBytes), kind), about...)
}

// AppendPseudonyms appends pseudonyms to a key.
func AppendPseudonyms(dst []byte, about ...lethe.Pseudonym) []byte {
	for _, p := range about {
		dst = append(dst, p[:]...)
	}
	return dst
}

// Pseudonyms returns the count pseudonyms that end a key, after prefix bytes. Error: ErrCorrupt.
func Pseudonyms(key []byte, prefix, count int) ([]lethe.Pseudonym, error) {
	if len(key) != prefix+count*PseudonymBytes {
		return nil, fmt.Errorf("%w: key of kind %q has %d bytes", ErrCorrupt, key[0], len(key))
	}
	out := make([]lethe.Pseudonym, count)
	for i := range out {
		copy(out[i][:], key[prefix+i*PseudonymBytes:])
	}
	return out, nil
}
