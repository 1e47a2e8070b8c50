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
	"lethe/deletions/scan"
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
	secret := lethe.Secret{5}
	rapid.Check(t, func(rt *rapid.T) {
		letters := rapid.SampledFrom([]rune(`abc019-_/"\éß日😀`))
		id := lethe.TransactionID(rapid.StringOfN(letters, 1, 12, -1).Draw(rt, "id"))
		other := lethe.TransactionID(rapid.StringOfN(letters, 1, 12, -1).Draw(rt, "other"))
		prints, err := scan.TransactionFingerprints(secret, id)
		require.NoError(rt, err)
		sc, err := scan.NewScanner(secret, prints)
		require.NoError(rt, err)
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
	secret := lethe.Secret{6}
	rapid.Check(t, func(rt *rapid.T) {
		value := rapid.SampledFrom([]float32{0, 1, -1, 0.5, 100, 1e-7, 3.25e9, 16777216, lethe.Missing()})
		row := rapid.SliceOfN(value, 3, 20).Draw(rt, "row")
		prints, err := scan.RowFingerprints(secret, row)
		require.NoError(rt, err)
		sc, err := scan.NewScanner(secret, prints)
		require.NoError(rt, err)
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
	secret := lethe.Secret{7}
	for _, id := range []lethe.TransactionID{"id", "type", "3"} {
		prints, err := scan.TransactionFingerprints(secret, id)
		require.NoError(t, err)
		sc, err := scan.NewScanner(secret, prints)
		require.NoError(t, err)
		require.Empty(t, sc.MatchText([]byte(`{"type":"label","id":"x","timestep":3,"label":"licit"}`)))
	}
}

func FuzzMatchText(f *testing.F) {
	secret := lethe.Secret{8}
	var prints []scan.Fingerprint
	for _, id := range []lethe.TransactionID{"café-1", "ab"} {
		more, err := scan.TransactionFingerprints(secret, id)
		require.NoError(f, err)
		prints = append(prints, more...)
	}
	more, err := scan.RowFingerprints(secret, []float32{1, 2, 3})
	require.NoError(f, err)
	sc, err := scan.NewScanner(secret, append(prints, more...))
	require.NoError(f, err)
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

func BenchmarkMatchText(b *testing.B) {
	secret := lethe.Secret{9}
	row := make([]float32, 165)
	var text []string
	for i := range row {
		row[i] = float32(i) * 0.37
		text = append(text, strconv.FormatFloat(float64(row[i])+1, 'g', -1, 32))
	}
	prints, err := scan.RowFingerprints(secret, row)
	require.NoError(b, err)
	ids, err := scan.TransactionFingerprints(secret, "230007682")
	require.NoError(b, err)
	sc, err := scan.NewScanner(secret, append(prints, ids...))
	require.NoError(b, err)
	record := []byte(`{"type":"transaction","id":"144730909","timestep":3,"features":[` + strings.Join(text, ", ") + `]}`)
	b.SetBytes(int64(len(record)))
	for b.Loop() {
		if len(sc.MatchText(record)) > 0 {
			b.Fatal("found what is not there")
		}
	}
}
