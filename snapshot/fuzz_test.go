package snapshot

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/internal/fuzzing"
	"lethe/snapshot/index"
	"lethe/snapshot/stored"
	"lethe/snapshot/suppressed"
)

// FuzzDecodeValue decodes a stored value as every kind that it may be.
func FuzzDecodeValue(f *testing.F) {
	p, o := lethe.Pseudonym{7}, Origin{Topic: "t", Key: []byte{}}
	fuzzing.Plain(f, func(value []byte) error {
		var taken bool
		for _, decode := range []func() error{
			func() error { _, err := stored.DecodeRow(value); return err },
			func() error { _, err := decodePayment(value); return err },
			func() error { _, err := decodeLabel(value); return err },
			func() error { _, err := decodeLetter(value); return err },
			func() error { _, err := index.Decode(value); return err },
			func() error { _, err := decodeInfo(1, value); return err },
		} {
			taken = decode() == nil || taken
		}
		if !taken {
			return ErrCorrupt
		}
		return nil
	},
		stored.Row{ID: "a", Features: []float32{1}}.Encode(), pendingPayment{"a", "b", o, judgement{}}.encode(),
		pendingLabel{lethe.Licit, "a", o, judgement{ReasonLate, true}}.encode(),
		storedLetter{[]lethe.Pseudonym{p}, Letter{Refusal: Refusal{o, ReasonLate, ""}}}.encode(),
		index.Entry{Timestep: 1}.Encode(),
		Info{Timestep: 1, Nodes: 2}.encode())
}

// FuzzMirror takes an entry of staging into memory, as Open does. The first byte
// is the length of the key.
func FuzzMirror(f *testing.F) {
	s := openMem(f, vfs.NewMem())
	entry := func(key, value []byte) []byte { return append(append([]byte{byte(len(key))}, key...), value...) }
	fuzzing.Plain(f, func(data []byte) error {
		if len(data) < 2 || data[0] == 0 || int(data[0]) >= len(data) {
			return ErrCorrupt
		}
		key, value := data[1:1+int(data[0])], data[1+int(data[0]):]
		return s.staging.mirror(key, value)
	},
		entry([]byte{kindFeatureCount}, []byte{0, 0, 0, 1}), entry(suppressed.Key(lethe.Digest{}), nil),
		entry(offsetKey(TopicPartition{"t", 0}), make([]byte, 8)), entry(watermarkKey(Labels, 0), make([]byte, 8)),
		entry(timestepKey(kindInfo, 1), Info{}.encode()))
}
