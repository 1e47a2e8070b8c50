package canonical_test

import (
	"testing"

	"lethe"
	"lethe/canonical"
	"lethe/internal/fuzzing"
)

func FuzzDecodeSlice(f *testing.F) {
	fuzzing.Framed(f, func(message []byte) ([]byte, error) {
		s, err := canonical.DecodeSlice(message)
		if err != nil {
			return nil, err
		}
		return canonical.EncodeSlice(s), nil
	}, canonical.EncodeSlice(sampleSlice()), canonical.EncodeSlice(&lethe.Slice{Previous: lethe.NoTimestep}))
}

func FuzzDecodeSnapshot(f *testing.F) {
	fuzzing.Framed(f, func(message []byte) ([]byte, error) {
		s, err := canonical.DecodeSnapshot(message)
		if err != nil {
			return nil, err
		}
		return canonical.EncodeSnapshot(s), s.Validate()
	}, canonical.EncodeSnapshot(sampleSnapshot()), canonical.EncodeSnapshot(&lethe.Snapshot{}))
}
