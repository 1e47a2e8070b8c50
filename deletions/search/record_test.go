package search

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/deletions/scan"
	"lethe/ingest"
)

// W149: the code of one record in nine has a bracket, and counted as broken JSON with features: where features of a
// transaction were erased, its prediction or its reasons were withdrawn, which stay. So was a label with a header such
// as Spring's "[B".
func TestFeaturesAreNotSearchedForInCodes(t *testing.T) {
	f, err := scan.FeaturesFingerprint(testSecret, "transaction-1", nil)
	require.NoError(t, err)
	scanner, err := scan.NewScanner(testSecret, []scan.Fingerprint{f})
	require.NoError(t, err)
	of := func(value, header, content string) ingest.Record {
		return ingest.Record{
			Key: []byte("transaction-1"), Value: []byte(value),
			Headers: []ingest.Header{{Key: header, Value: []byte(content)}},
		}
	}
	for _, c := range []struct {
		rec   ingest.Record
		found bool
	}{
		{of(`{"transaction":"transaction-1"}`, ingest.CodeHeader, "\x91[\x801\xff"), false},
		{of(`{"transaction":"transaction-1"}`, "trace", "\x91[\x801\xff"), true},
		{of(`{"id":"transaction-1","label":"licit"}`, "__TypeId__", "[B"), false},
		{of(`{"id":"transaction-1"}`, "row", "[null"), true},
		{of(`{"id":"transaction-1","features":[1]}`, ingest.CodeHeader, "\x91[\x801\xff"), true},
		{of(`{"transaction":"transaction-1"}`, ingest.CodeHeader, "code"), false},
	} {
		require.Equal(t, c.found, len(Hits(scanner, c.rec)) > 0, "%s %q", c.rec.Value, c.rec.Headers[0].Value)
	}
}
