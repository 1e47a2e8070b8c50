package jcs_test

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe/internal/jcs"
)

// The vectors of the RFC's author: white space, order of members, escapes, numbers.
func TestVectorsOfTheRFC(t *testing.T) {
	inputs, err := filepath.Glob("testdata/input/*.json")
	require.NoError(t, err)
	require.Len(t, inputs, 6)
	for _, input := range inputs {
		text, err := os.ReadFile(input)
		require.NoError(t, err)
		want, err := os.ReadFile(filepath.Join("testdata/output", filepath.Base(input)))
		require.NoError(t, err)
		got, err := jcs.Transform(text)
		require.NoError(t, err)
		require.Equal(t, string(want), string(got), input)
		again, err := jcs.Transform(got)
		require.NoError(t, err)
		require.Equal(t, got, again)
		got, err = jcs.Encode(json.RawMessage(text))
		require.NoError(t, err)
		require.Equal(t, string(want), string(got), input)
	}
}

// RFC 8785, appendix B: bits of a float64 and how it is written.
func TestNumbersOfTheRFC(t *testing.T) {
	for bits, want := range map[uint64]string{
		0x0000000000000000: "0", 0x8000000000000000: "0",
		0x0000000000000001: "5e-324", 0x8000000000000001: "-5e-324",
		0x7fefffffffffffff: "1.7976931348623157e+308", 0xffefffffffffffff: "-1.7976931348623157e+308",
		0x4340000000000000: "9007199254740992", 0xc340000000000000: "-9007199254740992",
		0x4430000000000000: "295147905179352830000",
		0x44b52d02c7e14af5: "9.999999999999997e+22", 0x44b52d02c7e14af6: "1e+23",
		0x44b52d02c7e14af7: "1.0000000000000001e+23",
		0x444b1ae4d6e2ef4e: "999999999999999700000", 0x444b1ae4d6e2ef4f: "999999999999999900000",
		0x444b1ae4d6e2ef50: "1e+21", 0x3eb0c6f7a0b5ed8c: "9.999999999999997e-7", 0x3eb0c6f7a0b5ed8d: "0.000001",
		0x41b3de4355555553: "333333333.3333332", 0x41b3de4355555554: "333333333.33333325",
		0x41b3de4355555555: "333333333.3333333", 0x41b3de4355555556: "333333333.3333334",
		0x41b3de4355555557: "333333333.33333343", 0xbecbf647612f3696: "-0.0000033333333333333333",
		0x43143ff3c1cb0959: "1424953923781206.2",
	} {
		f := math.Float64frombits(bits)
		got, err := jcs.Encode(f)
		require.NoError(t, err)
		require.Equal(t, want, string(got), "%016x", bits)
		got, err = jcs.Transform([]byte(want))
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
}

func TestWhatHasNoForm(t *testing.T) {
	for name, text := range map[string]string{
		"lists nested too deep":       strings.Repeat("[", 102) + strings.Repeat("]", 102),
		"objects nested too deep":     strings.Repeat(`{"a":`, 102) + "1" + strings.Repeat("}", 102),
		"a doubled member":            `{"a":1,"a":2}`,
		"a doubled member, escaped":   `{"a":1,"\u0061":2}`,
		"half a pair":                 `"\ud83d"`,
		"half a pair before another":  `"\ud83dx\ude02"`,
		"two first halves":            `"\ud83d\ud83d"`,
		"half a pair in a name":       `{"\ude02":1}`,
		"no UTF-8":                    "\"\xff\"",
		"too large a number":          `1e400`,
		"an integer of no float64":    `9007199254740993`,
		"the largest of 64 bits":      `9223372036854775807`,
		"no JSON":                     `{"a":}`,
		"nothing":                     ``,
		"a number that is none":       `NaN`,
		"a control character":         "\"\n\"",
		"two values":                  `1 2`,
		"a comma too many":            `[1,]`,
		"a doubled member, far below": `[{"b":[{"a":1,"c":2,"a":1}]}]`,
	} {
		_, err := jcs.Transform([]byte(text))
		require.ErrorIs(t, err, jcs.ErrNoForm, name)
		if text != "" {
			require.NotContains(t, err.Error(), text, name)
		}
	}
	_, err := jcs.Encode(int64(1<<53 + 1))
	require.ErrorIs(t, err, jcs.ErrNoForm)
	got, err := jcs.Encode([]any{int64(1 << 60), int64(math.MinInt64), "\u2028<&>\x7f\x1f\b"})
	require.NoError(t, err)
	require.Equal(t, "[1152921504606847000,-9223372036854776000,\"\u2028<&>\x7f\\u001f\\b\"]", string(got))
}

// value draws JSON, objects with members in any order.
func value(rt *rapid.T, depth int) any {
	text := rapid.StringOf(rapid.RuneFrom([]rune("ab\"\\\n\x00\x1f\u2028é\ufb33😂𐀀")))
	switch kind := rapid.IntRange(0, 5).Draw(rt, "kind"); {
	case kind == 0 && depth > 0:
		list := make([]any, rapid.IntRange(0, 3).Draw(rt, "length"))
		for i := range list {
			list[i] = value(rt, depth-1)
		}
		return list
	case kind == 1 && depth > 0:
		object := make(map[string]any)
		for range rapid.IntRange(0, 4).Draw(rt, "members") {
			object[text.Draw(rt, "name")] = value(rt, depth-1)
		}
		return object
	case kind == 2:
		return rapid.Float64().Draw(rt, "number")
	case kind == 3:
		return rapid.Bool().Draw(rt, "bool")
	case kind == 4:
		return nil
	default:
		return text.Draw(rt, "text")
	}
}

// Whatever the order and the spelling, the form is one; it says what was said, and its
// members are in the order of their UTF-16 code units.
func TestOneFormForOneValue(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		v := value(rt, 4)
		got, err := jcs.Encode(v)
		require.NoError(rt, err)
		indented, err := json.MarshalIndent(v, " ", "\t")
		require.NoError(rt, err)
		same, err := jcs.Transform(indented)
		require.NoError(rt, err)
		require.Equal(rt, string(got), string(same))
		var back any
		require.NoError(rt, json.Unmarshal(got, &back))
		if f, zero := v.(float64); !zero || f != 0 {
			require.Equal(rt, v, back)
		}
		if object, is := v.(map[string]any); is {
			requireOrder(rt, got, object)
		}
	})
}

func requireOrder(rt *rapid.T, text []byte, object map[string]any) {
	var names []string
	for name := range object {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return slices.Compare(units(a), units(b)) })
	var want []byte
	for _, name := range names {
		one, err := jcs.Encode(map[string]any{name: object[name]})
		require.NoError(rt, err)
		if want != nil {
			want = append(want, ',')
		}
		want = append(want, one[1:len(one)-1]...)
	}
	require.Equal(rt, "{"+string(want)+"}", string(text))
}

// units are the big-endian UTF-16 of a text: bytes in their order are code units in theirs.
func units(s string) (out []byte) {
	for _, u := range utf16.Encode([]rune(s)) {
		out = binary.BigEndian.AppendUint16(out, u)
	}
	return out
}

func TestExactIntegers(t *testing.T) {
	got, err := jcs.EncodeExact(map[string]any{"b": uint64(math.MaxUint64), "a": []any{int64(math.MinInt64), 1e21, .5}})
	require.NoError(t, err)
	require.Equal(t, `{"a":[-9223372036854775808,1e+21,0.5],"b":18446744073709551615}`, string(got))
}

func FuzzTransform(f *testing.F) {
	f.Add([]byte(`{"b":[1e3,"\u00e9\ud83d\ude02"],"a":{"":null}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := jcs.Transform(text)
		if err != nil {
			return
		}
		again, err := jcs.Transform(got)
		require.NoError(t, err)
		require.Equal(t, got, again)
	})
}
