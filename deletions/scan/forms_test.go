package scan_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/canonical"
	"lethe/deletions/scan"
	"lethe/internal/sortedset"
)

func idScanner(t require.TestingT, ids ...lethe.TransactionID) *scan.Scanner {
	var list []scan.Fingerprint
	for _, id := range ids {
		forms, err := scan.IDFingerprints(testSecret, id)
		require.NoError(t, err)
		list = append(list, forms...)
	}
	return scannerOf(t, list...)
}

func TestWhereAnIDCounts(t *testing.T) {
	uuid := "0f8fad5b-d9cb-469f-a165-70867728950e"
	for _, c := range []struct {
		id   lethe.TransactionID
		text string
		want bool
	}{
		{"230425980", `{"id":"230425980","timestep":3}`, true},
		{"230425980", `230425980>1`, true},
		{"230425980", `1>230425980`, true},
		{"230425980", `"1\u003e230425980"`, true},
		{"230425980", `"\n230425980"`, true},
		{"230425980", "\x09\x00\x00\x00230425980abc", true},
		{"230425980", "\x00\x00\x00\x09230425980abc", true},
		{"230425980", kafkaString("230425980") + "\x01", true},
		{"230425980", kafkaString("230425980") + "x{}", true},
		{"230425980", `2304259801`, false},
		{"230425980", `1230425980`, false},
		{"230425980", `tx230425980`, false},
		{"230425980", `[0.230425980,1]`, false},
		{"230425980", `[230425980.5]`, false},
		{"230425980", `spent. 230425980.`, true},
		{lethe.TransactionID(uuid), uuid, true},
		// 36 in zigzag form is the letter H; the value's length 28 is '8'.
		{lethe.TransactionID(uuid), kafkaString(uuid) + `8{"label":"licit"}`, true},
		{lethe.TransactionID(uuid), "G" + uuid, false},
		// 17 in zigzag form is a quotation mark.
		{"customer-00000001", `"customer-000000012"`, false},
		{"customer-00000001", `"customer-00000001"`, true},
		{"customer-00000001", kafkaString("customer-00000001") + `d{"label":"licit"}`, true},
		{`a"quote\id`, `{"id":"a\"quote\\id"}`, true},
		{"12345", `"12345"`, true},
		{"12345", `12345,`, false},
		{"12345", "\x05\x00\x00\x0012345", true},
		{"42", `{"id":"42"}`, true},
		{"42", `{"source": "42"}`, true},
		{"42", `{"version":"42"}`, false},
		{"42", "\x02\x00\x00\x0042", false},
		{"123", "\x03\x00\x00\x00123", true},
	} {
		hits := idScanner(t, c.id).ScanBytes([]byte(c.text))
		require.Equal(t, c.want, len(hits) > 0, "%q in %q: %v", c.id, c.text, hits)
	}
}

func TestMatchKeyKnowsShortIDs(t *testing.T) {
	sc := idScanner(t, "42", "230425980")
	for key, want := range map[string][]int64{
		"42":           {0},
		"42>7":         {0},
		"7>42":         {2},
		"42>42":        {0, 3},
		"142":          {},
		"43>24":        {},
		"421>7":        {},
		"230425980":    {0},
		"42>230425980": {0, 3},
		"!close/42/1":  {},
	} {
		hits := sc.MatchKey([]byte(key))
		got := make([]int64, len(hits))
		for i, h := range hits {
			got[i] = h.Offset
		}
		require.Equal(t, want, got, key)
	}
}

// Every id that a producer may choose is found as lethe's formats write it.
func TestEveryIDIsFoundInEveryFormat(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		id := lethe.TransactionID(rapid.StringMatching(`[0-9A-Za-z"\\&<é.-]{1,70}`).Draw(rt, "id"))
		other := lethe.TransactionID(rapid.StringMatching(`x[0-9a-z]{0,9}`).Draw(rt, "other"))
		sc := idScanner(rt, id)
		value, err := json.Marshal(map[string]any{"id": id, "timestep": 3})
		require.NoError(rt, err)
		require.NotEmpty(rt, sc.ScanBytes(value))
		require.NotEmpty(rt, sc.MatchKey([]byte(id)))
		require.NotEmpty(rt, sc.MatchKey([]byte(id+">"+other)))
		require.NotEmpty(rt, sc.MatchKey([]byte(other+">"+id)))
		node := lethe.SnapshotNode{Pseudonym: testSecret.Pseudonym(id), ID: id}
		stored := canonical.EncodeSnapshot(&lethe.Snapshot{Nodes: []lethe.SnapshotNode{node}})
		forms, err := scan.PseudonymFingerprints(testSecret, node.Pseudonym)
		require.NoError(rt, err)
		require.NotEmpty(rt, scannerOf(rt, forms...).ScanBytes(stored))
		// Of a word, such as "of-", only its pseudonym is.
		if len(id) >= 3 && len(scan.NotSearched(id)) == 0 {
			require.NotEmpty(rt, sc.ScanBytes(stored))
		}
	})
}

// A sorted table may elide the bytes that a key shares with the one before.
func TestPseudonymIsFoundWithoutItsBeginning(t *testing.T) {
	p := testSecret.Pseudonym("somebody")
	forms, err := scan.PseudonymFingerprints(testSecret, p)
	require.NoError(t, err)
	sc := scannerOf(t, forms...)
	require.Len(t, sc.ScanBytes(p[4:]), 1)
	require.Empty(t, sc.ScanBytes(p[5:]))
	require.Len(t, sc.ScanBytes([]byte(hex.EncodeToString(p[:]))), 1)
}

func TestNodeFormsLeaveOutWhatOthersShare(t *testing.T) {
	s := &lethe.Snapshot{
		FeatureCount: 3,
		Nodes: []lethe.SnapshotNode{
			{Pseudonym: lethe.Pseudonym{1}, ID: "transaction-1"}, {Pseudonym: lethe.Pseudonym{2}, ID: "transaction-2"},
			{Pseudonym: lethe.Pseudonym{3}, ID: "transaction-3"}, {Pseudonym: lethe.Pseudonym{4}, ID: "transaction-4"},
		},
		Features: []float32{1.25, -2, 3.5, 1, 2, 3.5, 7.5, 7.5, 7.5, 1, 2, 3.5},
	}
	kinds := func(nodes ...int) (found []scan.Kind, not []scan.Kind) {
		forms, err := scan.NodeFingerprints(testSecret, s, nodes)
		require.NoError(t, err)
		require.Len(t, forms, len(nodes))
		var list []scan.Fingerprint
		for _, f := range forms {
			list, not = append(list, f.Found...), sortedset.Add(not, f.NotSearched...)
		}
		hits := scannerOf(t, list...).ScanBytes(canonical.EncodeSnapshot(s))
		require.GreaterOrEqual(t, len(hits), 2*len(nodes), "id and pseudonym are there before the erasure")
		for _, f := range list {
			found = append(found, f.Kind)
		}
		return found, not
	}
	found, not := kinds(0)
	require.Contains(t, found, scan.KindFeatures)
	require.Contains(t, found, scan.KindFeaturesText)
	require.Empty(t, not)

	both := []scan.Kind{scan.KindFeatures, scan.KindFeaturesText}
	found, not = kinds(1)
	require.NotContains(t, found, scan.KindFeatures, "node 3 has the same row")
	require.Equal(t, both, not)
	found, not = kinds(2)
	require.NotContains(t, found, scan.KindFeatures, "one value says nothing")
	require.Equal(t, both, not)
	found, not = kinds(1, 3)
	require.Contains(t, found, scan.KindFeatures, "both rows go")
	require.Equal(t, []scan.Kind{scan.KindFeaturesText}, not, "1,2,3.5 has seven bytes")

	_, err := scan.NodeFingerprints(testSecret, s, []int{4})
	require.ErrorContains(t, err, "node 4 of 4")
}

// A row is not searched as text if its text stands in that of a row that stays, also where a number
// of it ends or begins another one.
func TestTextThatStandsInAnotherRowIsNotSearched(t *testing.T) {
	value := rapid.SampledFrom([]float32{0.25, 10.25, 0.256, 25, 1e-7, lethe.Missing(), float32(math.Copysign(0, -1)), 0})
	rapid.Check(t, func(rt *rapid.T) {
		count := rapid.IntRange(1, 4).Draw(rt, "features")
		s := &lethe.Snapshot{FeatureCount: count}
		for i := range rapid.IntRange(2, 6).Draw(rt, "nodes") {
			s.Nodes = append(s.Nodes, lethe.SnapshotNode{Pseudonym: lethe.Pseudonym{byte(i)}, ID: "transaction"})
			s.Features = append(s.Features, rapid.SliceOfN(value, count, count).Draw(rt, "row")...)
		}
		text := func(node int) (out []byte) {
			for _, v := range s.Row(node) {
				out = append(lethe.AppendFeature(out, v), ',')
			}
			return out[:len(out)-1]
		}
		values := make(map[float32]bool)
		for _, v := range s.Row(0) {
			if v != 0 && !lethe.IsMissing(v) {
				values[v] = true
			}
		}
		nobodys := len(text(0)) < scan.MinNeedleBytes || len(values) < 2
		for node := 1; node < len(s.Nodes); node++ {
			nobodys = nobodys || bytes.Contains(text(node), text(0))
		}
		forms, err := scan.NodeFingerprints(testSecret, s, []int{0})
		require.NoError(rt, err)
		require.Equal(rt, nobodys, slices.Contains(forms[0].NotSearched, scan.KindFeaturesText))
	})
}

// What was left of a row stood in others, across a transaction's own features and the mean of its
// neighbours', so that a request was never verified.
func TestRowsThatStandAcrossOthersAreNotSearched(t *testing.T) {
	missing := lethe.Missing()
	for _, c := range []struct {
		row      []float32
		searched bool
	}{
		{[]float32{missing, 0, 0, 0}, false},
		{[]float32{0, 0, 1, 0}, false},
		{[]float32{1, 0, 1, 0}, false},
		{[]float32{7.5, 7.5, 7.5, missing}, false},
		{[]float32{7.5, 0, 1, 0}, true},
		{[]float32{missing, -7.5, 7.5, 0}, true},
	} {
		require.Equal(t, c.searched, len(rowPrints(t, c.row...)) > 0, "%v", c.row)
	}
}

func TestAnEmptyIDCannotBeSearched(t *testing.T) {
	_, err := scan.IDFingerprints(testSecret, "")
	require.ErrorIs(t, err, scan.ErrNeedle)
}
