package challenge_test

import (
	"testing"

	"lethe"
	"lethe/audit/challenge"
	"lethe/internal/fuzzing"
)

func FuzzDecodeBundle(f *testing.F) {
	full := challenge.Bundle{
		Challenge: lethe.Digest{1}, Checkpoint: "note", Setup: []byte("{}"),
		Leaves:   [][]byte{make([]byte, 32), make([]byte, 40)},
		Openings: []challenge.Opening{{Request: lethe.Digest{2}, Salts: []lethe.Digest{{3}, {4}}}},
		Slices:   [][]byte{make([]byte, 33)}, Models: [][]byte{make([]byte, 34)},
	}
	fuzzing.Framed(f, func(data []byte) ([]byte, error) {
		b, err := challenge.DecodeBundle(data)
		if err != nil {
			return nil, err
		}
		return b.Encode(), nil
	}, full.Encode(), (&challenge.Bundle{}).Encode())
}

func FuzzDecodeChallenge(f *testing.F) {
	d := deployed(f, "fuzz", regressions())
	text, err := challenge.Challenge{Checkpoint: d.checkpoint(f), Count: 3}.Encode()
	if err != nil {
		f.Fatal(err)
	}
	fuzzing.Plain(f, func(data []byte) error {
		c, err := challenge.Decode(data)
		if err == nil {
			_, err = c.ID()
		}
		return err
	}, text)
}
