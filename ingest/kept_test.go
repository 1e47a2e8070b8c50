package ingest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/ingest"
)

// What lethe may store of a record has no field of no meaning in it; a record without such
// fields is kept as it came, spelling and all.
func TestKeptWithoutWhatItSaysMore(t *testing.T) {
	kept := func(decode func(ingest.Record, ingest.Limits) (ingest.Event, error), key, value string) string {
		rec := ingest.Record{Key: []byte(key), Value: []byte(value)}
		event, err := decode(rec, ingest.DefaultLimits())
		require.NoError(t, err, value)
		out, err := ingest.Kept(rec, event)
		require.NoError(t, err, value)
		return string(out)
	}
	for _, value := range []string{
		`{"features": [1, 2], "timestep": 3, "id": "a", "type": "transaction"}`,
		`{"type":"transaction","id":"a","timestep":3,"features":[1,2]}`,
	} {
		require.Equal(t, value, kept(ingest.DecodeTransactions, "a", value))
	}
	require.Equal(t, `{"type":"transaction","id":"a","timestep":3,"features":[1,2]}`,
		kept(ingest.DecodeTransactions, "a", `{"type":"transaction","id":"a","timestep":3,"name":"Ann","features":[1,2]}`))
	require.Equal(t, `{"type":"payment","source":"a","target":"b","timestep":3}`,
		kept(ingest.DecodeTransactions, "a>b", `{"type":"payment","source":"a","target":"b","timestep":3,"id":7}`))
	require.Equal(t, `{"type":"label","id":"a","timestep":3,"label":"licit"}`,
		kept(ingest.DecodeLabels, "a", `{"by":{"name":"Ann"},"type":"label","id":"a","timestep":3,"label":"licit"}`))
}
