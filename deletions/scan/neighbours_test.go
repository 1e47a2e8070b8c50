package scan_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"

	"lethe"
	"lethe/canonical"
	"lethe/deletions/scan"
)

// holdingNames are names that hold V.
var holdingNames = []string{
	"%s|b", "%sé", "%s😀", "%s'b", `%s\b`, `"%s"`, `{"id":"%s"}`, "[%s]", "id=%s", "%s!b", "%s/b", "%s@x", "%s:b",
	"%s_b", "%s<b", "é%s", "%s{b", `"id":"%s"`, "%s.{bcdefg", "x,%s,y", "%s;", `%s","id":"x`, "b%s😀",
}

func TestNamesThatHoldAnErasedOneDoNotCount(t *testing.T) {
	for _, erased := range []string{"order-100", "order-1", "42", "abcd", "0f8fad5b-d9cb-469f-a165-70867728950e"} {
		for _, form := range holdingNames {
			longer := fmt.Sprintf(form, erased)
			t.Run(longer, func(t *testing.T) { compareWithNeighbour(t, erased, longer) })
		}
	}
}

// The length before a key of 17 bytes is a quotation mark, which made an erased id of its first bytes a quoted one: any
// producer could hold up its erasure.
func TestAKeyWhoseLengthIsAQuotationMarkDoesNotCount(t *testing.T) {
	for _, erased := range []string{"order-100", "abcd", "0f8fad5b-d9cb"} {
		const keyBytes = 17
		longer := erased + `"` + strings.Repeat("b", keyBytes-1-len(erased))
		t.Run(longer, func(t *testing.T) { compareWithNeighbour(t, erased, longer) })
	}
}

func TestDrawnNamesThatHoldAnErasedOneDoNotCount(t *testing.T) {
	mark := rapid.SampledFrom([]rune("|é😀'\\\"{}[]=!/@:_<&,;.-ab01AZ~\u200d漢ß+*?"))
	legal := rapid.Rune().Filter(func(r rune) bool {
		return unicode.IsPrint(r) && r != ' ' && r != '>' && r != utf8.RuneError
	})
	letter := rapid.OneOf(mark.Filter(unicode.IsPrint), legal)
	rapid.Check(t, func(rt *rapid.T) {
		erased := rapid.StringOfN(letter, 1, 30, 60).Draw(rt, "erased")
		before := rapid.StringOfN(letter, 0, 40, 90).Draw(rt, "before")
		behind := rapid.StringOfN(letter, 0, 40, 90).Draw(rt, "behind")
		longer := before + erased + behind
		// What stands between the strings of JSON may read as an id of punctuation alone, and a length behind an id
		// as the second half of its last escape.
		isPlain := strings.ContainsFunc(erased, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
		isOther := erased == "x" || erased == "y" // which the records name too
		if isOther || longer == erased || longer[0] == '!' || erased[0] == '!' || !isPlain || strings.HasSuffix(erased, `\`) {
			rt.Skip("no two names")
		}
		compareWithNeighbour(rt, erased, longer)
	})
}

// compareWithNeighbour requires that a name is found wherever it stands, and not where a longer one does.
func compareWithNeighbour(t require.TestingT, erased, longer string) {
	sc := scannerOf(t, targetPrints(t, lethe.Transactions(lethe.TransactionID(erased))...)...)
	neighbours, remainders := written(longer), written(erased)
	for place, data := range neighbours {
		if strings.HasPrefix(place, "JSON in JSON") { // spelled twice, it is found by what it says
			require.Empty(t, sc.MatchRecord(nil, data), "%s: %q in %q", place, erased, data)
			require.NotEmpty(t, sc.MatchRecord(nil, remainders[place]), "%s: %q", place, erased)
			continue
		}
		require.Empty(t, sc.ScanBytes(data), "%s: %q in %q", place, erased, data)
		// What is left of the erased one is found behind and before its neighbour, and on its own.
		searched := len(erased) >= scan.BoundedIDBytes && len(scan.NotSearched(lethe.TransactionID(erased))) == 0
		if left := remainders[place]; searched {
			require.NotEmpty(t, sc.ScanBytes(left), "%s: %q in %q", place, erased, left)
			require.NotEmpty(t, sc.ScanBytes(slices.Concat(data, left)), "%s: %q", place, erased)
			require.NotEmpty(t, sc.ScanBytes(slices.Concat(left, data)), "%s: %q", place, erased)
		}
	}
	for _, key := range []string{"%s", "x>%s", "%s>x", ">!labels.v1>%s", ">!refused!transactions.v1>%s>x"} {
		require.Empty(t, sc.MatchKey(fmt.Appendf(nil, key, longer)), "%q in the key %s", erased, key)
		require.NotEmpty(t, sc.MatchKey(fmt.Appendf(nil, key, erased)), "%q in the key %s", erased, key)
	}
	for at, value := range recordsOf(longer) {
		require.Empty(t, sc.MatchRecord([]byte(longer), value), "%q in %s", erased, value)
		require.NotEmpty(t, sc.MatchRecord([]byte(longer), recordsOf(erased)[at]), "%q in %s", erased, value)
	}
}

// recordsOf are values of records that name a transaction.
func recordsOf(name string) (values [][]byte) {
	for _, said := range []any{
		map[string]any{"id": name, "timestep": 3, "features": []float32{1, 2}},
		map[string]any{"source": "x", "target": name}, map[string]any{"source": name, "target": "x"},
		map[string]any{"type": "label", "transaction": name, "label": "licit", "note": "neither\\nor"},
		map[string]any{"nodes": []string{"x", name, "y"}},
	} {
		value, err := json.Marshal(said)
		if err != nil {
			panic(err)
		}
		values = append(values, value)
	}
	return values
}

// written is a name as lethe and its broker write it, by place.
func written(name string) map[string][]byte {
	p := testSecret.Pseudonym(lethe.TransactionID(name))
	node := lethe.SnapshotNode{Pseudonym: p, ID: lethe.TransactionID(name)}
	text := func(dst []byte, s string) []byte {
		return append(binary.BigEndian.AppendUint32(dst, uint32(len(s))), s...)
	}
	blob := func(dst []byte, b []byte) []byte { return text(append(dst, 1), string(b)) }
	out := map[string][]byte{
		"canonical bytes": canonical.EncodeSnapshot(&lethe.Snapshot{Nodes: []lethe.SnapshotNode{node}}),
		// A row of a store in its log: the key, the length of the value, which may end in 1, and the value.
		"stored row":   text(append(append([]byte{'r'}, p[:]...), 0xc8, 1), name),
		"view's graph": append(text([]byte{1, 0, 0, 0, 0, 0, 0, 0, 1}, name), 0, 0, 0, 0),
	}
	for i, value := range recordsOf(name) {
		nested, err := json.Marshal(map[string]any{"value": string(value)})
		if err != nil {
			panic(err)
		}
		out[fmt.Sprint("JSON ", i)], out[fmt.Sprint("JSON in JSON ", i)] = value, nested
		origin := append([]byte("transactions.v1"), make([]byte, 12)...)
		origin = append(binary.BigEndian.AppendUint64(origin, 1<<40), 0, 0, 0, 0, 1, 2, 3, 4)
		out[fmt.Sprint("staging ", i)] = append(blob(blob(origin, []byte(name)), value), 0, 0, 0, 0)
		for _, delta := range []int32{0, 5} {
			rec := kmsg.Record{OffsetDelta: delta, Key: []byte(name), Value: value}
			rec.Length = int32(len(rec.AppendTo(nil)) - 1)
			out[fmt.Sprint("log ", i, delta)] = append(make([]byte, 60), rec.AppendTo(nil)...)
		}
	}
	for tag, before := range map[byte]string{0x0a: "", 0x12: "\x0a\x01x"} {
		message := append([]byte("\x00\x00\x00\x00\x07\x02\x02"+before), tag)
		out[fmt.Sprint("Protobuf ", tag)] = append(append(binary.AppendUvarint(message, uint64(len(name))), name...), 0x18, 3)
	}
	return out
}
