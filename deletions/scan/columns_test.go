package scan_test

import (
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions/scan"
)

// However deep a producer nests a text, it is looked through, and takes little of the stack. Who is named in it counts.
func TestATextThatIsNestedDeepIsLookedThrough(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(32 << 20))
	sc := scannerOf(t, targetPrints(t, featuresOf("tx-anna", nil))...)
	const levels = 1_000_000
	for _, level := range []string{"[", `{"a":`} {
		deep := strings.Repeat(level, levels)
		require.Empty(t, sc.MatchRecord([]byte("tx-else"), []byte(deep)))
		require.Len(t, sc.MatchRecord([]byte("tx-else"), []byte(deep+`"tx-anna",[1]`)), 1)
		require.Len(t, sc.MatchRecord([]byte("tx-anna"), []byte(deep+"[1]")), 1)
	}
}

// Features are found by what a record says of their transaction, in whatever spelling; what
// is 0 there, or another's, is not. Where nobody can tell, they are found.
func TestFeaturesAreFoundByWhatIsSaid(t *testing.T) {
	sc := scannerOf(t, targetPrints(t, featuresOf("caf\u00e9/1", lethe.Columns{1, 3}), featuresOf("b", nil))...)
	for _, c := range []struct {
		key, value string
		found      []int
	}{
		{"", `{"type":"transaction","id":"café/1","timestep":1,"features":[1,2,3,4]}`, []int{0}},
		{"", `{"features":[1, 0.0, 3, 4e-2],"i\u0064":"caf\u00e9\/1"}`, []int{0}},
		{"", `{"features":[1,0,3,0,5],"id":"café/1"}`, nil},
		{"", `{"features":[1],"id":"café/1"}`, nil},
		{"", `{"features":[1,null,3],"id":"café/1"}`, []int{0}},
		{"", `{"features":[1,-0,3],"id":"café/1"}`, []int{0}},
		{"", `{"features":[1,1e-99,3],"id":"café/1"}`, []int{0}},
		{"", `{"features":[1,0e9,3],"id":"café/1"}`, nil},
		{"", `{"features":"1,2","id":"café/1"}`, []int{0}},
		{"", `{"features":[1,{}],"id":"café/1"}`, []int{0}},
		{"", `{"features":[0,0],"features":[0,1],"id":"café/1"}`, []int{0}},
		{"", `{"features":[0,1],"id":"x","id":"café/1"}`, []int{0}},
		{"", `{"a":[{"features":[0,1],"id":"café/1"}]}`, []int{0}},
		{"", `{"id":"b","features":[0,0,1]}`, []int{1}},
		{"", `{"id":"b","features":[0,0,0]}`, nil},
		{"", `{"id":"c","features":[1]}`, nil},
		{"", `{"type":"label","id":"b","timestep":1,"label":"licit"}`, nil},
		{"", `{"features":[1, 2, "id":"b"`, []int{1}},
		{"", `{"id":"b","timestep":1,"label":"li`, nil},
		{"b", `{"features":[0, 1]}`, []int{1}},
		{"b", `{"features":[0,`, []int{1}},
		{"c", `{"features":[0,`, nil},
	} {
		var found []int
		for _, h := range sc.MatchRecord([]byte(c.key), []byte(c.value)) {
			require.Equal(t, scan.KindFeaturesOf, h.Kind)
			found = append(found, h.Fingerprint)
		}
		require.Equal(t, c.found, found, "%s %s", c.key, c.value)
	}
	require.Empty(t, sc.MatchRow("café/1", []float32{1, 0, 1, 0}))
	require.Len(t, sc.MatchRow("café/1", []float32{1, 0, 1, 2}), 1)
	columns, redacted := sc.RedactedOf("café/1")
	require.True(t, redacted)
	require.Equal(t, lethe.Columns{1, 3}, columns)
	_, redacted = sc.RedactedOf("c")
	require.False(t, redacted)
}
