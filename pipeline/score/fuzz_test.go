package score

import (
	"bytes"
	"testing"

	"lethe"
	"lethe/internal/fuzzing"
)

func FuzzDecodeExplained(f *testing.F) {
	one := explained{alerts: []alert{{node: lethe.Pseudonym{1}, owed: true}, {around: []lethe.Pseudonym{{2}}}}}
	fuzzing.Framed(f, func(message []byte) ([]byte, error) {
		e, err := decodeExplained(message)
		if err != nil {
			return nil, err
		}
		return e.encode(), nil
	}, one.encode(), explained{}.encode())
}

func FuzzDecodeLink(f *testing.F) {
	fuzzing.Plain(f, func(value []byte) error {
		_, err := decodeLink(value)
		return err
	}, link{revision: 3, previous: lethe.NoTimestep, done: true, late: true}.encode())
}

func FuzzDecodeServed(f *testing.F) {
	one := []model{{candidate{timestep: 3}, lethe.Digest{1}}, {candidate{timestep: 4, shard: 1}, lethe.Digest{2}}}
	f.Add(encodeServed(one))
	f.Add(encodeServed(nil))
	f.Fuzz(func(t *testing.T, value []byte) {
		if models, err := decodeServed(value); err == nil && !bytes.Equal(encodeServed(models), value) {
			t.Fatalf("%d bytes are taken and written as others", len(value))
		}
	})
}

func FuzzSplitModel(f *testing.F) {
	one := model{candidate{timestep: 3, shard: 2}, lethe.Digest{1}}
	f.Add(one.key(), []byte(nil))
	f.Add(one.candidate.key(), encodeCandidate(one.digest, 5))
	f.Fuzz(func(t *testing.T, key, value []byte) {
		if m, err := modelOf(key); err == nil && !bytes.Equal(m.key(), key) {
			t.Fatalf("%x is taken and written as %x", key, m.key())
		}
		m, r, err := candidateOf(key, value)
		if err != nil {
			return
		}
		written := encodeCandidate(m.digest, r)
		if !bytes.Equal(m.candidate.key(), key) || !bytes.Equal(written, value) {
			t.Fatalf("%x and %x are taken and written as others", key, value)
		}
	})
}

func FuzzSplitRevision(f *testing.F) {
	f.Add(withRevision(7, []byte("value")))
	f.Fuzz(func(t *testing.T, value []byte) {
		if r, rest, err := splitRevision(value); err == nil && !bytes.Equal(withRevision(r, rest), value) {
			t.Fatalf("%d bytes are taken and written as others", len(value))
		}
	})
}
