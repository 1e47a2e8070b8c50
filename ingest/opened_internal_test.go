package ingest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// decoderWalk tells what walk tells, by the tokens of encoding/json.
func decoderWalk(w *walk) {
	d := json.NewDecoder(bytes.NewReader(w.part))
	d.UseNumber()
	named := false
	for {
		token, err := d.Token()
		if err != nil {
			return
		}
		named = !named && len(w.lists) > 0 && !w.lists[len(w.lists)-1]
		said, isText := token.(string)
		delim, isDelim := token.(json.Delim)
		switch {
		case isDelim:
			w.delim(byte(delim), int(d.InputOffset())-1)
			named = false
		case named:
			w.field = []byte(said)
		case isText && (len(w.lists) == 0 || !isFormatField(string(w.field))):
			w.text([]byte(said))
		}
	}
}

// told lists what a walk of a text calls.
func told(part []byte, all func(*walk)) (texts []string) {
	w := walk{part: part}
	w.text = func(said []byte) { texts = append(texts, "text "+string(said)) }
	w.object = func(text []byte) { texts = append(texts, "object "+string(text)) }
	all(&w)
	return texts
}

// drawnJSON draws a valid text that is spelled in any way.
func drawnJSON() *rapid.Generator[string] {
	space := rapid.SampledFrom([]string{"", "", " ", "\n", "\t "})
	text := rapid.OneOf(
		rapid.SampledFrom([]string{`"id"`, `"\u0069d"`, `"data"`, `"pay\u006coad"`, `"subjects"`, `"a\"b:\\"`, `""`,
			`"\ud83d"`, `"\ud83d\ude00"`, "\"\xff\xc3\"", `"{\"id\":\"x\"}"`, `"x\/[]{}"`}),
		rapid.Map(rapid.String(), func(s string) string { return string(quoted(s)) }),
	)
	scalar := rapid.OneOf(text, rapid.SampledFrom([]string{"null", "true", "-1.5e+3", "0"}))
	var value func(depth int) *rapid.Generator[string]
	value = func(depth int) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			kind := rapid.IntRange(0, 2).Draw(t, "kind")
			if depth == 0 || kind == 0 {
				return space.Draw(t, "before") + scalar.Draw(t, "scalar") + space.Draw(t, "after")
			}
			begin, end := byte('['), byte(']')
			if kind == 1 {
				begin, end = '{', '}'
			}
			out := []byte{begin}
			for i := range rapid.IntRange(0, 3).Draw(t, "members") {
				if i > 0 {
					out = append(out, ',')
				}
				if kind == 1 {
					out = append(out, space.Draw(t, "before")+text.Draw(t, "name")+space.Draw(t, "after")+":"...)
				}
				out = append(out, value(depth-1).Draw(t, "value")...)
			}
			return space.Draw(t, "before") + string(append(out, end)) + space.Draw(t, "after")
		})
	}
	return value(5)
}

func TestWalk_AnyJSON_TellsWhatADecoderTells(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := []byte(drawnJSON().Draw(t, "text"))
		require.True(t, json.Valid(part), "%q", part)
		require.Equal(t, told(part, decoderWalk), told(part, (*walk).all), "%q", part)
	})
}

func TestMayOpen_AnyStringThatIsOpened(t *testing.T) {
	opened := 0
	rapid.Check(t, func(t *rapid.T) {
		lists := rapid.SampledFrom([]string{"[0, 1, 2, 3]", "  [10000, 2]", "[null,null]"})
		said := rapid.OneOf(lists, drawnJSON(), rapid.Map(drawnJSON(), func(s string) string {
			return base64.StdEncoding.EncodeToString([]byte(s))
		}), rapid.Map(rapid.SliceOfN(rapid.Byte(), 8, 40), func(b []byte) string {
			return base64.RawURLEncoding.EncodeToString(b)
		})).Draw(t, "said")
		raw := quoted(said)
		part := append(append([]byte(`{"comment": `), raw...), '}')
		if _, is := decoded([]byte(said)); (is || isDocument([]byte(said))) && len(raw) >= leastEncoded+2 {
			opened++
			require.True(t, mayOpen(part), "%q", part)
		}
	})
	require.Greater(t, opened, 20)
}
