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
	records, err := command.Records()
	require.NoError(f, err)
	f.Add(records[0].Key, records[0].Value)
	f.Add([]byte("ack/r-1/train/1/purged"), []byte(`{"format":"lethe-erasure-ack/1"}`))
	f.Add([]byte("r-1"), []byte(`{"format":"lethe-erasure-status/1"}`))
	f.Fuzz(func(t *testing.T, key, value []byte) {
		n, err := wire.ParseNotice(ingest.Record{Key: key, Value: value})
		if err != nil {
			require.Zero(t, n)
		}
	})
}

func FuzzParseSettings(f *testing.F) {
	rec, err := wire.Settings{Role: "train", Values: map[string]string{"trainer.model": "trees"}}.Record()
	require.NoError(f, err)
	f.Add(rec.Key, rec.Value)
	f.Add(rec.Key, []byte(`{"format":"lethe-settings/2"}`))
	f.Fuzz(func(t *testing.T, key, value []byte) {
		s, found, err := wire.ParseSettings(ingest.Record{Key: key, Value: value})
		if err != nil {
			require.False(t, found)
			return
		}
		if !found {
			return
		}
		rec, err := s.Record()
		require.NoError(t, err)
		again, found, err := wire.ParseSettings(ingest.Record{Key: []byte("!settings/" + s.Role), Value: rec.Value})
		require.NoError(t, err)
		require.True(t, found)
		require.Equal(t, s, again)
	})
}

func FuzzParseInstance(f *testing.F) {
	rec, err := wire.Instance{Role: "train", Identity: "0a", Run: "1", TakeOver: true}.Record()
	require.NoError(f, err)
	f.Add(rec.Key, rec.Value)
	f.Add(rec.Key, []byte(`{"format":"lethe-instance/2"}`))
	f.Fuzz(func(t *testing.T, key, value []byte) {
		i, found, err := wire.ParseInstance(ingest.Record{Key: key, Value: value})
		if err != nil || !found {
			require.False(t, found)
			return
		}
		rec, err := i.Record()
		require.NoError(t, err)
		require.Equal(t, key, rec.Key)
		again, found, err := wire.ParseInstance(ingest.Record{Key: rec.Key, Value: rec.Value})
		require.NoError(t, err)
		require.True(t, found)
		require.Equal(t, i, again)
	})
}
