// Package fuzzing has the fuzz targets that decoders share, for tests.
//
// A framed message ends in a checksum, which no mutation would match. Its target therefore
// mutates the body and frames it again, as a sender with write access to a topic could.
package fuzzing

import (
	"bytes"
	"crypto/sha256"
	"testing"
)

// A canonical message has magic and version before its body and a checksum after it.
const (
	headBytes     = 5
	checksumBytes = sha256.Size
)

// Framed adds a target for the decoder of a canonical message. reencode decodes a message and
// returns its encoding, which must equal any message that it accepts. Seeds are whole messages,
// at least one, all of which must be accepted.
func Framed(f *testing.F, reencode func([]byte) ([]byte, error), seeds ...[]byte) {
	f.Helper()
	if len(seeds) == 0 {
		f.Fatal("a target without a seed begins nowhere")
	}
	head := seeds[0][:headBytes]
	for _, s := range seeds {
		if again, err := reencode(s); err != nil || !bytes.Equal(s, again) {
			f.Fatalf("a seed is not taken as it is: %v", err)
		}
		f.Add(s[headBytes : len(s)-checksumBytes])
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		message := append(bytes.Clone(head), body...)
		checksum := sha256.Sum256(message)
		message = append(message, checksum[:]...)
		again, err := reencode(message)
		if err == nil && !bytes.Equal(message, again) {
			t.Fatalf("%d bytes are taken and written as other %d bytes", len(message), len(again))
		}
	})
}

// Plain adds a target for a decoder of plain bytes: it must return, with or without an error.
func Plain(f *testing.F, decode func([]byte) error, seeds ...[]byte) {
	f.Helper()
	if len(seeds) == 0 {
		f.Fatal("a target without a seed begins nowhere")
	}
	for _, s := range seeds {
		if err := decode(s); err != nil {
			f.Fatalf("a seed is not taken: %v", err)
		}
		f.Add(s)
	}
	f.Fuzz(func(_ *testing.T, data []byte) {
		_ = decode(data)
	})
}
