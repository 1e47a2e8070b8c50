package search

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions/scan"
	"lethe/ingest"
)

// What is kept of a record that was too large for the dead letters is still
// searched: an id in it is found, in any spelling, and none is cut in two.
func TestAnIDIsFoundInWhatIsKeptOfALargeRecord(t *testing.T) {
	if testing.Short() {
		t.Skip("searches gigabytes")
	}
	const id = lethe.TransactionID("transaction-4711")
	prints, err := scan.IDFingerprints(lethe.Secret{1}, id)
	require.NoError(t, err)
	scanner, err := scan.NewScanner(lethe.Secret{1}, prints)
	require.NoError(t, err)
	for _, spelling := range []string{string(id), `\u0074ransaction-4711`} {
		// The cut comes at every place of a name.
		for shift := range 40 {
			head := `{"type":"x","` + strings.Repeat("y", shift) + `":["` + strings.Repeat(spelling+`", "`, 400)
			rec := ingest.Record{Topic: "t", Key: []byte("k"), Value: []byte(head + strings.Repeat("z", 3<<20))}
			letter := ingest.DeadLetter(rec, &ingest.Refusal{Reason: ingest.TooLarge}, "v")
			require.Less(t, len(letter.Value), 5000)
			hits := scanner.MatchRecord(letter.Key, letter.Value)
			require.NotEmpty(t, hits)
			whole := strings.ReplaceAll(string(letter.Value), spelling, "")
			require.NotContains(t, whole, "4711")
			require.NotContains(t, whole, "ransac")
		}
	}
}
