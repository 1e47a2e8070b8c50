package scan_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions/scan"
)

// An id that is a word is found where a record names it, and not where the word stands
// in a record of somebody else.
func TestAnIDThatIsAWord(t *testing.T) {
	for _, id := range []lethe.TransactionID{
		"illicit", "close", "label", "licit", "transaction", "settle", "payment", "unknown", "verified",
		"request_id", "erasure-status.v1", "1", "17",
	} {
		prints, err := scan.IDFingerprints(lethe.Secret{7}, id)
		require.NoError(t, err)
		sc, err := scan.NewScanner(lethe.Secret{7}, prints)
		require.NoError(t, err)
		say := func(format string) []byte { return fmt.Appendf(nil, format, id) }
		for _, names := range []string{
			`{"type":"transaction","id":"%s","timestep":1,"features":[1]}`, `{"transaction" : "%s"}`,
			`{"type":"payment","source":"a","target":"%s"}`, `{"nodes":["x","%s"]}`, `{"type":"label","id" :"%s","la`,
		} {
			require.NotEmpty(t, sc.MatchRecord([]byte("k"), say(names)), names, id)
		}
		require.NotEmpty(t, sc.MatchRecord(say("%s"), nil))
		require.NotEmpty(t, sc.MatchRecord(say("a>%s"), nil))
		for _, others := range []string{
			`{"type":"%s","id":"x","timestep":1}`, `{"type":"label","id":"x","label":"%s"}`, `{"features":["%s","2"]}`,
			`{"type":"label","id":"x","la`, `{"scope":"%s"}`,
		} {
			require.Empty(t, sc.MatchRecord([]byte("k"), say(others)), others, id)
		}
		require.Empty(t, sc.MatchRecord([]byte("!settle/4/0"), []byte(`{"type":"settle","timestep":4}`)))
	}
	require.Equal(t, []scan.Kind{scan.KindID}, scan.NotSearched("illicit"))
	require.Equal(t, []scan.Kind{scan.KindIDFramed, scan.KindIDQuoted}, scan.NotSearched("close"))
	for _, id := range []lethe.TransactionID{"1", "transaction-1", "12345678", "alice", "late-a"} {
		require.Empty(t, scan.NotSearched(id), id)
	}
}
