package scan_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
)

// spelling draws one of the legal ways in which JSON can say a text.
func spelling(rt *rapid.T, text string) string {
	var out strings.Builder
	for _, r := range text {
		switch way := rapid.IntRange(0, 3).Draw(rt, "way"); {
		case way == 0 && r == '/':
			out.WriteString(`\/`)
		case way == 1 && r < 0x10000:
			fmt.Fprintf(&out, `\u%04x`, r)
		case way == 2 && r < 0x10000:
			fmt.Fprintf(&out, `\u%04X`, r)
		case way > 0 && r >= 0x10000:
			r -= 0x10000
			fmt.Fprintf(&out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		case r == '"' || r == '\\':
			out.WriteString(`\` + string(r))
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// An id is found in whatever way JSON says it, and wherever in a document: the
// oracle is encoding/json, which reads the same document.
func TestAnIDIsFoundInEverySpelling(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		letters := rapid.SampledFrom([]rune(`abc019-_/"\éß日😀`))
		id := lethe.TransactionID(rapid.StringOfN(letters, 1, 12, -1).Draw(rt, "id"))
		other := lethe.TransactionID(rapid.StringOfN(letters, 1, 12, -1).Draw(rt, "other"))
		sc := scannerOf(rt, targetPrints(rt, lethe.Transactions(id)...)...)
		document := func(id lethe.TransactionID) (whole, cut []byte) {
			text := spelling(rt, string(id))
			shape := rapid.SampledFrom([]string{
				`{"id":"%s"}`, ` {"x" : [ {"y":"%s"} ]}`, `{"%s":true}`, `["%s>zz"]`, `["zz>%s"]`, `"%s"`,
			}).Draw(rt, "shape")
			before, _, _ := strings.Cut(shape, "%s")
			return fmt.Appendf(nil, shape, text), []byte(before + text)
		}
		found := func(text []byte) bool { return len(sc.MatchRecord([]byte("key"), text)) > 0 }
		holding, cut := document(id)
		require.True(rt, json.Valid(holding), "%s", holding)
		require.True(rt, found(holding), "%s", holding)
		require.True(rt, found(append([]byte(`{"a":"`), holding...)), "broken: %s", holding)
		require.True(rt, found(cut), "cut short: %s", cut)
		if harmless, _ := document(other); !strings.Contains(string(other), string(id)) {
			require.False(rt, found(harmless), "%s is not in %s", id, harmless)
		}
	})
}

// number draws one of the legal ways in which JSON can say a number.
func number(rt *rapid.T, v float32) string {
	if lethe.IsMissing(v) {
		return "null"
	}
	text := strconv.FormatFloat(float64(v), rapid.SampledFrom([]byte("eEfg")).Draw(rt, "format"), -1, 32)
	if rapid.Bool().Draw(rt, "zeros") && strings.Contains(text, ".") && !strings.ContainsAny(text, "eE") {
		text += "00"
	}
	return text
}

// A feature row is found in whatever way its numbers are written, and no other row.
func TestARowIsFoundInEverySpelling(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		value := rapid.SampledFrom([]float32{0, 1, -1, 0.5, 100, 1e-7, 3.25e9, 16777216, lethe.Missing()})
		row := rapid.SliceOfN(value, 3, 20).Draw(rt, "row")
		prints := rowPrints(rt, row...)
		sc := scannerOf(rt, prints...)
		text := func(row []float32) string {
			var parts []string
			for _, v := range row {
				parts = append(parts, number(rt, v))
			}
			comma := rapid.SampledFrom([]string{",", ", ", " ,\n\t"}).Draw(rt, "comma")
			return strings.Join(parts, comma)
		}
		other := slices.Clone(row)
		// Not the first: the text of a row also stands in that of one that begins 7.7e+01.
		other[rapid.IntRange(1, len(row)-1).Draw(rt, "at")] = 77
		for _, shape := range []string{`{"features":[%s]}`, `[[%s]]`, `{"features":[%s`, `"{\"features\":[%s]}"`} {
			require.Equal(rt, len(prints) > 0, len(sc.MatchText(fmt.Appendf(nil, shape, text(row)))) > 0, shape)
			require.Empty(rt, sc.MatchText(fmt.Appendf(nil, shape, text(other))), shape)
			if !strings.Contains(shape, `\`) {
				require.Empty(rt, sc.MatchText(fmt.Appendf(nil, shape, text(row)+",1")), shape)
			}
		}
	})
}

// Names and values of the record formats are no ids, though an id may be spelled so.
func TestWordsOfTheFormatsAreNoIDs(t *testing.T) {
	for _, id := range []lethe.TransactionID{"id", "type", "3"} {
		sc := scannerOf(t, targetPrints(t, lethe.Transactions(id)...)...)
		require.Empty(t, sc.MatchText([]byte(`{"type":"label","id":"x","timestep":3,"label":"licit"}`)))
	}
}

func FuzzMatchText(f *testing.F) {
	ids := targetPrints(f, lethe.Transactions("café-1", "ab")...)
	sc := scannerOf(f, append(ids, rowPrints(f, 1, 2, 3)...)...)
	for _, seed := range []string{
		`{"id":"caf\u00e9-1","f":[1e0,2.0, 3]}`, `"\ud83d\u`, `\`, `"`, `-,-`, `{"a":"{\"b\":1}"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, h := range sc.MatchText(data) {
			require.Less(t, h.Offset, int64(len(data)+1))
		}
	})
}
