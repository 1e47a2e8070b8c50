package scan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions/scan"
)

// manyScanner looks for something of every kind.
func manyScanner(t *testing.T) *scan.Scanner {
	targets := append(lethe.Transactions("tx-anna", "ab"), lethe.PaymentBetween("tx-1", "tx-2"),
		lethe.SubjectThrough("customer-ann", 9), featuresOf("tx-bert", lethe.Columns{1, 3}))
	return scannerOf(t, append(targetPrints(t, targets...), rowPrints(t, 1, 2, 3, 4.5, 6)...)...)
}

// Whatever fills a record, looking it through takes a few times its size: one that came compressed has 32 MB.
func TestALargeRecordIsLookedThroughInLittleMemory(t *testing.T) {
	const size, times = 1 << 20, 10
	sc := manyScanner(t)
	filled := func(before, part, after string) string {
		return before + strings.Repeat(part, size/len(part)) + after
	}
	for name, c := range map[string]struct {
		key, value string
		kinds      []scan.Kind
	}{
		"zeros":    {"tx-bert", filled(`{"features":[`, "0,", "0]}"), nil},
		"features": {"tx-bert", filled(`{"features":[`, "0,", "0],\"features\":[0,1]}"), []scan.Kind{scan.KindFeaturesOf}},
		"lists":    {"tx-bert", filled(`{"features":[`, "[],", "[]]}"), []scan.Kind{scan.KindFeaturesOf}},
		"objects":  {"tx-bert", filled(`{"features":{"a":[`, "0,", "0]}}"), []scan.Kind{scan.KindFeaturesOf}},
		"ids":      {"k", filled(`{"id":[`, "0,", "0]}"), nil},
		"a broken list": {
			"tx-bert", filled(`{"features":[`, "0,", ""), []scan.Kind{scan.KindFeaturesOf},
		},
		"subjects": {
			"k", filled(`{"timestep":3,"subjects":[`, `"a",`, `"customer-ann"]}`), []scan.Kind{scan.KindSubject},
		},
		"later subjects":  {"k", filled(`{"subjects":[`, `"a",`, `"customer-ann"],"timestep":10}`), nil},
		"missing numbers": {"k", filled(`[`, `null,`, `null]`), nil},
		"one id": {
			"k", filled(`["`, `tx-anna","`, `"]`), []scan.Kind{scan.KindID},
		},
		"a key": {filled("", ">", ""), `{}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var hits []scan.Hit
			bytes := allocated(func() { hits = sc.MatchRecord([]byte(c.key), []byte(c.value)) })
			require.Less(t, bytes, uint64(times*size))
			var kinds []scan.Kind
			for _, h := range hits {
				kinds = append(kinds, h.Kind)
			}
			slices.Sort(kinds)
			require.Equal(t, c.kinds, slices.Compact(kinds))
		})
	}
}
