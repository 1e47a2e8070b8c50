package ingest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest"
)

// Features that are erased are 0 in the record of their transaction, which says nothing more
// then; what is no transaction, or broken, is left to others.
func TestRedactedRecords(t *testing.T) {
	erased := func(id lethe.TransactionID) (lethe.Columns, bool) { return lethe.Columns{0, 2}, id == "a" }
	const a = `{"type":"transaction","id":"a","timestep":3,"features":`
	for value, want := range map[string]string{
		`{"features":[1,2e0,null,4],"i\u0064":"\u0061","timestep":3,"type":"transaction","was":[1]}`: a + `[0,2,0,4]}`,
		a + `[-0]}`:      a + `[0]}`,
		a + `[0,5,0.0]}`: "",
		a + `[1,2`:       "",
		`{"type":"transaction","id":"b","timestep":3,"features":[1,2]}`: "",
		`{"type":"label","id":"a","timestep":3,"label":"licit"}`:        "",
	} {
		got, changed := ingest.Redacted([]byte(value), erased)
		require.Equal(t, want != "", changed, value)
		if !changed {
			want = value
		}
		require.Equal(t, want, string(got))
	}
}

// Only who has the secret can say that a record was published again, and of no other record.
func TestRepublishedRecordsAreKnown(t *testing.T) {
	secret := lethe.Secret{1}
	for _, refused := range []bool{false, true} {
		out := ingest.Republished(secret, ingest.Record{Key: []byte("a"), Partition: 3}, []byte("value"), refused)
		rec := ingest.Record{Key: out.Key, Value: out.Value, Headers: out.Headers}
		require.True(t, out.Pinned && out.Partition == 3)
		known := func(secret lethe.Secret) [2]bool {
			is, wasRefused := ingest.IsRepublished(secret, rec)
			return [2]bool{is, wasRefused}
		}
		require.Equal(t, [2]bool{true, refused}, known(secret))
		require.Equal(t, [2]bool{}, known(lethe.Secret{2}))
		rec.Value = []byte("another")
		require.Equal(t, [2]bool{}, known(secret))
	}
}
