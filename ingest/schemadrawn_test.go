package ingest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/ingest"
	"lethe/internal/plainnumber"
)

// What a schema cannot say, by the reason of the refusal, and the words in which its descriptions say it.
func inWordsOnly() map[ingest.Reason]string {
	return map[ingest.Reason]string{
		ingest.DuplicateField: "no field twice",
		ingest.SelfLoop:       "two ends of a payment differ",
		ingest.NodeCount:      "at most 1,000 of all",
		ingest.BadTime:        "of the years 0 to 9999 in UTC",
	}
}

// Drawn values: whatever passes the published schema is accepted, and whatever does not is refused.
func TestDrawnValues_SchemaAndIntake_Agree(t *testing.T) {
	for _, topic := range []string{"transactions", "labels", "erasures"} {
		schema := compile(t, topic+".v1")
		t.Run(topic, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				requireAgreement(rt, topic, schema, []byte(drawValue(rt, topic)))
			})
		})
	}
}

func requireAgreement(t require.TestingT, topic string, schema *jsonschema.Schema, value []byte) {
	limits := ingest.DefaultLimits()
	limits.MaxMagnitude = 4e38 // a setting, and named as one in the schema
	_, err := decode(t, topic, ingest.Record{Key: keyOf(value), Value: value}, limits)
	parsed, parseErr := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	passes := parseErr == nil
	if passes {
		parseErr = schema.Validate(parsed)
		passes = parseErr == nil
	}
	var refusal *ingest.Refusal
	if passes && errors.As(err, &refusal) {
		// encoding/json replaces a half of a surrogate pair; I-JSON has none.
		if refusal.Reason == ingest.Unparseable && bytes.Contains(value, []byte(`\ud8`)) {
			return
		}
		// A schema counts characters.
		long := bytes.Contains(value, []byte(strings.Repeat("漢", 86))) ||
			bytes.Contains(value, []byte(strings.Repeat("😀", 65)))
		if long && (refusal.Reason == ingest.BadID || refusal.Reason == ingest.BadSubject) {
			return
		}
		if _, inWords := inWordsOnly()[refusal.Reason]; inWords {
			return
		}
	}
	require.Equal(t, passes, err == nil, "%.300q: intake: %v; schema: %v", value, err, parseErr)
}

// The test above leaves out what the schemas' descriptions say in words.
func TestWhatASchemaCannotExpressStandsInItsDescriptions(t *testing.T) {
	for reason, words := range inWordsOnly() {
		require.Contains(t, schemaText(t, "erasures.v1"), words, reason)
	}
	for _, topic := range []string{"transactions.v1", "labels.v1", "erasures.v1"} {
		require.Contains(t, schemaText(t, topic), "at most 256 bytes of UTF-8")
		require.Contains(t, schemaText(t, topic), "I-JSON")
	}
}

// The characters that no name has are those of the code.
func TestPatternsOfNamesAreThoseOfIntake(t *testing.T) {
	class := ""
	for runes := []rune(lethe.Invisible); len(runes) > 0; runes = runes[2:] {
		if class += string(runes[0]); runes[0] != runes[1] {
			class += "-" + string(runes[1])
		}
	}
	id, err := json.Marshal("^[^!> " + class + "][^> " + class + "]*$")
	require.NoError(t, err)
	for _, topic := range []string{"transactions.v1", "labels.v1", "erasures.v1"} {
		var schema struct {
			Defs map[string]struct {
				Pattern    string                              `json:"pattern"`
				Items      struct{ Pattern string }            `json:"items"`
				Properties map[string]struct{ Pattern string } `json:"properties"`
			} `json:"$defs"`
		}
		require.NoError(t, json.Unmarshal([]byte(schemaText(t, topic)), &schema))
		var want string
		require.NoError(t, json.Unmarshal(id, &want))
		require.Equal(t, want, schema.Defs["id"].Pattern, topic)
		subject := schema.Defs["subjects"].Items.Pattern + schema.Defs["subject"].Pattern
		require.Contains(t, []string{"", "^[^" + class + "]*$"}, subject, topic)
	}
}

// keyOf is the key that a record with a value has.
func keyOf(value []byte) []byte {
	var fields map[string]any
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.UseNumber()
	_ = decoder.Decode(&fields) // what is no object is refused whatever the key is
	text := func(name string) string { t, _ := fields[name].(string); return t }
	number, _ := fields["timestep"].(json.Number)
	step, _ := plainnumber.Integer([]byte(number), 1<<53)
	keys := map[string]string{
		"transaction": text("id"), "label": text("id"), "payment": text("source") + ">" + text("target"),
		"close": fmt.Sprintf("!close/%d/0", step), "settle": fmt.Sprintf("!settle/%d/0", step), "marker": "!marker/0",
		"erasure": text("request_id"), "cancel": "!cancel/" + text("request_id"), "approve": "!approve/" + text("request_id"),
		"hold": "!hold/" + text("hold_id"), "lift": "!hold/" + text("hold_id"),
	}
	return []byte(keys[text("type")])
}

// drawValue draws the value of a record: mostly of the right fields, and of values that are mostly valid.
func drawValue(t *rapid.T, topic string) string {
	types := map[string]map[string][]string{
		"transactions": {
			"transaction": {"id", "timestep", "features", "subjects"},
			"payment":     {"source", "target", "timestep", "subjects"}, "close": {"timestep"}, "marker": {},
		},
		"labels": {"label": {"id", "timestep", "label"}, "settle": {"timestep"}, "marker": {}},
		"erasures": {
			"erasure": {
				"request_id", "nodes", "payments", "features_of", "subjects", "until", "scope", "reason", "requested_at", "nonce",
				"deadline",
			},
			"cancel": {"request_id", "request_digest", "requested_at"}, "marker": {},
			"approve": {"request_id", "request_digest", "requested_at"},
			"hold":    {"hold_id", "nodes", "subjects", "reason", "until", "requested_at"}, "lift": {"hold_id", "requested_at"},
		},
	}[topic]
	kind := rapid.SampledFrom(slices.Sorted(maps.Keys(types))).Draw(t, "type")
	fields := []string{`"type":` + quotedText(kind)}
	for _, name := range types[kind] {
		if seldom(t, 8, "leave out "+name) {
			continue
		}
		fields = append(fields, quotedText(name)+":"+drawField(t, kind, name))
	}
	if seldom(t, 12, "another field") {
		name := rapid.SampledFrom([]string{"label", "id", "more", "ID", "features", "subjects"}).Draw(t, "other")
		fields = append(fields, quotedText(name)+":"+drawField(t, kind, name))
	}
	return "{" + strings.Join(rapid.Permutation(fields).Draw(t, "order"), ",") + "}"
}

func seldom(t *rapid.T, of int, what string) bool { return rapid.IntRange(1, of).Draw(t, what) == of }

func drawField(t *rapid.T, kind, name string) string {
	if seldom(t, 25, "another kind") {
		return rapid.SampledFrom([]string{"null", "true", "{}", "[]", `""`, "5", `[{}]`, `{"a":[1,"b"]}`}).Draw(t, name)
	}
	list := func(item func() string, most int) string {
		items := make([]string, rapid.IntRange(0, most).Draw(t, "length"))
		for i := range items {
			items[i] = item()
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	id := func() string { return drawText(t, idTexts()) }
	switch name {
	case "timestep":
		return drawNumber(t)
	case "until":
		if kind == "hold" {
			return drawTime(t)
		}
		return drawNumber(t)
	case "features":
		return list(func() string { return drawNumber(t) }, 3)
	case "nodes":
		return list(id, 2)
	case "subjects":
		return list(id, rapid.SampledFrom([]int{2, 2, 2, 17}).Draw(t, "most"))
	case "payments":
		return list(func() string { return `{"source":` + id() + `,"target":` + id() + `}` }, 2)
	case "features_of":
		columns := func() string { return list(func() string { return drawNumber(t) }, 2) }
		return list(func() string {
			return rapid.SampledFrom([]string{`{"id":` + id() + `}`, `{"id":` + id() + `,"columns":` + columns() + `}`, `{}`}).
				Draw(t, name)
		}, 2)
	case "requested_at", "deadline":
		return drawTime(t)
	default:
		return drawText(t, plainTexts(name))
	}
}

func drawNumber(t *rapid.T) string {
	if rapid.Bool().Draw(t, "plain") {
		return fmt.Sprint(rapid.IntRange(0, 5000).Draw(t, "number"))
	}
	return rapid.SampledFrom([]string{
		"0", "-0", "-0.0", "5.0", "50e-1", "0.5e1", "5E+0", "1e3", "0e99", "-0e-9", "5.5", "-1", "-5.0", "4095", "4096",
		"4095.0",
		"9007199254740992", "9007199254740993", "9007199254740992.0", "9.007199254740993e15", "90071992547409920e-1", "1e20",
		"1e400", "1e-400", "3.4028235e38", "3.4028235677973365e38", "3.4028235677973366e38", "-3.5e38", "null", "01", "+1",
		"1.", ".5", "0x1p-2", "1_000", "NaN", "Infinity", `"5"`,
	}).Draw(t, "number")
}

func drawTime(t *rapid.T) string {
	return quotedText(rapid.SampledFrom([]string{
		"2026-12-24T00:00:00Z", "2026-12-24T01:02:03.123456789+02:00", "2026-12-24", "2026-02-30T00:00:00Z",
		"2026-12-24T1:02:03Z", "2026-12-24T01:02:03,5Z", "2026-12-24t01:02:03z", "2026-12-24 01:02:03Z",
		"2026-12-24T24:00:00Z", "2026-12-24T23:59:60Z", "2026-12-24T00:00:00+24:00", "2026-12-24T00:00:00+0200",
		"0000-01-01T00:00:00Z", "0000-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00", "2024-02-29T00:00:00-23:59", "",
	}).Draw(t, "time"))
}

func idTexts() []string {
	return []string{
		"a", "b", "", "!a", "a!", "a>b", "a b", " a", "a\u200db", "a\u200cb", "a\u00a0b", "a\u0085b", "a\tb", "a\x00",
		"\ufeffa",
		"a\u00adb", "a\u202eb", "\u3000", "\ue000", "\u0378", "\ufffd", "\uffff", "😀", "\U000e0067", "a,b",
		`a"b`, `a\b`, "<a&b>",
		strings.Repeat("a", 256), strings.Repeat("a", 257), strings.Repeat("漢", 256), strings.Repeat("漢", 257),
		strings.Repeat("😀", 256), strings.Repeat("😀", 257), "a\u2028b", "-", "0",
	}
}

func plainTexts(name string) []string {
	switch name {
	case "label":
		return []string{"illicit", "licit", "unknown", "Illicit", ""}
	case "scope":
		return []string{"shard", "stubs", "partition", "", "all"}
	case "nonce":
		return []string{strings.Repeat("0a", 16), strings.Repeat("0A", 16), "0a", ""}
	case "request_digest":
		return []string{
			strings.Repeat("0a", 32), strings.Repeat("0A", 32), strings.Repeat("0", 64), strings.Repeat("0g", 32), "0a",
		}
	case "request_id", "hold_id":
		return []string{"r", "R-1._", ".r", "r r", "é", "", strings.Repeat("r", 128), strings.Repeat("r", 129)}
	case "reason":
		return []string{"why", "", "\x00", strings.Repeat("漢", 1024), strings.Repeat("漢", 1025)}
	default:
		return idTexts()
	}
}

// drawText draws a string of JSON: one that is listed, one of any characters, or one with an escape.
func drawText(t *rapid.T, listed []string) string {
	switch rapid.IntRange(0, 9).Draw(t, "kind of text") {
	case 0:
		return quotedText(rapid.String().Draw(t, "text"))
	case 1:
		escapes := []string{`"\u0061"`, `"\ud83d\ude00"`, `"\ud800"`, `"\u200d"`, `"\/"`, `"\x61"`}
		return rapid.SampledFrom(escapes).Draw(t, "escape")
	case 2, 3, 4:
		return quotedText(listed[0])
	default:
		return quotedText(rapid.SampledFrom(listed).Draw(t, "text"))
	}
}

func quotedText(text string) string {
	out, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(out)
}
