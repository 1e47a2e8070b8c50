package scan_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions/scan"
)

// A subject counts among the subjects of a record up to its timestep, however it is spelled;
// in later records, other fields and longer strings it says nothing.
func TestASubjectIsFoundInWhatCarriesIt(t *testing.T) {
	secret := lethe.Secret{5}
	const until = 7
	prints, err := scan.SubjectFingerprints(secret, "cust/1 é", until)
	require.NoError(t, err)
	sc, err := scan.NewScanner(secret, prints)
	require.NoError(t, err)
	texts := func(text string) (hits int) {
		for _, hit := range sc.MatchText([]byte(text)) {
			if hit.Kind == scan.KindSubject {
				hits++
			}
		}
		return hits
	}
	for _, spelled := range []string{`cust/1 é`, `cust\/1 \u00e9`, `\u0063ust/1 é`} {
		record := `{"type":"transaction","timestep":%d,"subjects":["x","%s"],"id":"a"}`
		require.Equal(t, 1, texts(fmt.Sprintf(record, until, spelled)), spelled)
		require.Equal(t, 1, texts(fmt.Sprintf(record, 0, spelled)), spelled)
		require.Zero(t, texts(fmt.Sprintf(record, until+1, spelled)), spelled)
		require.Equal(t, 1, texts(fmt.Sprintf(`{"\u0073ubjects":["%s"],"timestep":"no number"}`, spelled)))
		require.Equal(t, 1, texts(fmt.Sprintf(`{"type":"erasure","subjects":["%s"],"until":9}`, spelled)))
		require.Equal(t, 1, texts(fmt.Sprintf(`{"timestep":9,"subjects":["%s"`, spelled)), "broken")
		require.Zero(t, texts(fmt.Sprintf(`{"timestep":1,"subjects":["%s-1"],"customer":"%s"}`, spelled, spelled)))
	}
	later := []byte(`{"type":"payment","timestep":8,"subjects":["cust/1 é"]}`)
	require.Empty(t, sc.MatchRecord([]byte("a>b"), later), "it is taken")
	require.Len(t, sc.ScanBytes([]byte("\x00cust/1 é\x00")), 1)
	require.Equal(t, scan.KindSubjectKey, sc.ScanBytes([]byte("\x00cust/1 é\x00"))[0].Kind)
}
