package ledgercopy_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/deletions"
	"lethe/deletions/ledgercopy"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role/roletest"
)

// Whatever stands in the topic, only what was written with the secret is taken, as it
// was written.
func FuzzRead(f *testing.F) {
	fresh, err := deletions.NewEntry(secret, requestFor("one", "transaction-1"), at)
	require.NoError(f, err)
	records, err := ledgercopy.Records(secret, fresh)
	require.NoError(f, err)
	f.Add(records[0].Key, records[0].Value, records[0].Headers[0].Key, records[0].Headers[0].Value)
	f.Fuzz(func(t *testing.T, key, value []byte, header string, content []byte) {
		topics := roletest.NewBus(nil)
		headers := slices.Concat(records[0].Headers[1:], []ingest.Header{{Key: header, Value: content}})
		sent := ingest.Outgoing{Key: key, Value: value, Headers: headers}
		require.NoError(t, topics.Write(t.Context(), bus.Control, []ingest.Outgoing{sent}))
		read, err := ledgercopy.Read(t.Context(), topics, secret)
		require.NoError(t, err)
		for _, e := range read.Entries {
			require.Equal(t, fresh, e)
		}
	})
}
