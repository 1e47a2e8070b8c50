package wire_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest"
	"lethe/internal/fuzzing"
	"lethe/pipeline/wire"
)

func FuzzDecodeManifest(f *testing.F) {
	m := &wire.Manifest{
		Timestep: 7, Previous: 6, Slices: []lethe.Digest{{1}, {2}},
		Labels: []wire.NodeLabel{{Pseudonym: lethe.Pseudonym{1}, Label: lethe.Illicit}},
	}
	fuzzing.Framed(f, func(message []byte) ([]byte, error) {
		m, err := wire.DecodeManifest(message)
		if err != nil {
			return nil, err
		}
		return m.Encode(), nil
	}, m.Encode(), (&wire.Manifest{Previous: lethe.NoTimestep}).Encode())
}

func FuzzParseNotice(f *testing.F) {
	command := wire.Command{RequestID: "r-1", Phase: wire.PhasePurge}
	rec, err := command.Record()
	require.NoError(f, err)
	f.Add(rec.Key, rec.Value)
	f.Add([]byte("ack/r-1/train/1/purged"), []byte(`{"format":"lethe-erasure-ack/1"}`))
	f.Add([]byte("r-1"), []byte(`{"format":"lethe-erasure-status/1"}`))
	f.Fuzz(func(t *testing.T, key, value []byte) {
		n, err := wire.ParseNotice(ingest.Record{Key: key, Value: value})
		if err != nil {
			require.Zero(t, n)
		}
	})
}
