package record_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe/deletions/internal/record"
)

// value draws what encoding/json can hold, objects as structures would write them: not
// sorted.
func value(rt *rapid.T, depth int) any {
	kind := rapid.IntRange(0, 5).Draw(rt, "kind")
	switch {
	case kind == 0 && depth > 0:
		list := make([]any, rapid.IntRange(0, 3).Draw(rt, "length"))
		for i := range list {
			list[i] = value(rt, depth-1)
		}
		return list
	case kind == 1 && depth > 0:
		// The members of a structure are written in this order.
		return struct {
			Z any    `json:"z"`
			B string `json:"b_2"`
			A any    `json:"a"`
			C any    `json:"b,omitempty"`
		}{value(rt, depth-1), rapid.String().Draw(rt, "text"), value(rt, depth-1), value(rt, depth-1)}
	case kind == 2:
		return rapid.Int64().Draw(rt, "number")
	case kind == 3:
		return rapid.Bool().Draw(rt, "bool")
	case kind == 4:
		return nil
	default:
		return rapid.SampledFrom([]string{"", `"`, `\`, "a\"}],", "<&>", "\u2028", "é", "\x00"}).Draw(rt, "odd")
	}
}

// Canonical JSON is what parsing and writing with sorted members gives.
func TestEncodeSortsTheMembers(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		v := value(rt, 4)
		got, err := record.Encode(v)
		require.NoError(rt, err)
		first, err := json.Marshal(v)
		require.NoError(rt, err)
		decoder := json.NewDecoder(bytes.NewReader(first))
		decoder.UseNumber()
		var tree any
		require.NoError(rt, decoder.Decode(&tree))
		want, err := record.Compact(tree)
		require.NoError(rt, err)
		require.Equal(rt, string(want), string(got))
	})
}
