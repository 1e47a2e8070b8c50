package scan_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/deletions/scan"
)

// allocated is how many bytes something takes in all, also those that are free again.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// featuresScanner looks for features of transactions at columns.
func featuresScanner(t require.TestingT, of map[lethe.TransactionID][]lethe.Columns) *scan.Scanner {
	var targets []lethe.Target
	for id, each := range of {
		for _, columns := range each {
			targets = append(targets, featuresOf(id, columns))
		}
	}
	return scannerOf(t, targetPrints(t, targets...)...)
}

// Of ids and features that an object repeats, each is not compared with each, which would take more than a byte for
// each pair: somebody may send millions.
func TestRepeatedFieldsAreNoProduct(t *testing.T) {
	const n = 4000
	sc := featuresScanner(t, map[lethe.TransactionID][]lethe.Columns{"tx-anna": {nil, {0, 2}}})
	value := []byte("{" + strings.Repeat(`"id":"tx-anna","features":[1],`, n) + `"timestep":1}`)
	require.True(t, json.Valid(value))
	bytes := allocated(func() { require.Len(t, sc.MatchRecord(nil, value), 2) })
	require.Less(t, bytes, uint64(n*n))
}

// saidRow is a list of features as a producer may write it.
type saidRow struct {
	text    string
	row     []float32
	unclear bool
}

func drawRow(rt *rapid.T) saidRow {
	if odd := rapid.IntRange(0, 9).Draw(rt, "odd"); odd == 0 {
		text := rapid.SampledFrom([]string{
			`"1"`, `{}`, `7`, `[1,"x"]`, `[0,[0]]`, `[1e-99]`, `[1e99]`, `[{"id":"a"}]`, `true`,
		})
		return saidRow{text: text.Draw(rt, "unclear"), unclear: true}
	} else if odd == 1 {
		return saidRow{text: "null"}
	}
	row := rapid.SliceOfN(rapid.SampledFrom([]float32{0, 0, 0, 1, -2.5, lethe.Missing()}), 0, 5).Draw(rt, "row")
	var parts []string
	for _, v := range row {
		text := strconv.FormatFloat(float64(v), 'g', -1, 32)
		if lethe.IsMissing(v) {
			text = "null"
		}
		parts = append(parts, text)
	}
	return saidRow{text: "[" + strings.Join(parts, " , ") + "]", row: row}
}

// However often an object says ids and features, exactly those are found of which one list, or the other, has some at
// the columns: as if each id were compared with each list.
func TestEachIDIsComparedWithEachList(t *testing.T) {
	of := map[lethe.TransactionID][]lethe.Columns{"a": {nil}, "b": {{0}, {1, 3}}, "c": {{2}, {0, 1, 2, 3, 4}}}
	sc := featuresScanner(t, of)
	rapid.Check(t, func(rt *rapid.T) {
		key := rapid.SampledFrom([]string{"", "a", "b", "else"}).Draw(rt, "key")
		var objects []string
		want := 0
		found := make(map[string]bool)
		for range rapid.IntRange(1, 3).Draw(rt, "objects") {
			ids := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 0, 4).Draw(rt, "ids")
			var fields []string
			for _, id := range ids {
				fields = append(fields, fmt.Sprintf(`"id":%q`, id))
			}
			var rows []saidRow
			for range rapid.IntRange(0, 3).Draw(rt, "rows") {
				rows = append(rows, drawRow(rt))
				fields = append(fields, `"features":`+rows[len(rows)-1].text)
			}
			objects = append(objects, "{"+strings.Join(rapid.Permutation(fields).Draw(rt, "fields"), ",")+"}")
			for id, each := range of {
				if id := string(id); id != key && !slices.Contains(ids, id) {
					continue
				}
				for _, columns := range each {
					has := func(r saidRow) bool {
						_, changed := columns.Zeroed(r.row)
						return r.unclear || changed
					}
					if name := string(id) + ">" + columns.String(); slices.ContainsFunc(rows, has) && !found[name] {
						found[name] = true
						want++
					}
				}
			}
		}
		text := `{"x":[` + strings.Join(objects, ",") + `]}`
		require.True(rt, json.Valid([]byte(text)), text)
		require.Len(rt, sc.MatchRecord([]byte(key), []byte(text)), want, text)
	})
}
