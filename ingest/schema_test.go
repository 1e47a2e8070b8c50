package ingest_test

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"lethe/ingest"
)

// What the codec takes, the schema takes. What the codec refuses, the schema
// refuses too, unless the reason is one a schema cannot express.
func TestSchemasAgreeWithTheCodec(t *testing.T) {
	beyond := map[ingest.Reason]bool{
		ingest.DuplicateField: true, // JSON parsers keep one of the two
		ingest.KeyMismatch:    true, ingest.MissingKey: true, ingest.SelfLoop: true,
		ingest.TooLarge: true, ingest.BadTime: true,
		ingest.FeatureMagnitude: true, // a setting
	}
	for _, topic := range []string{"transactions", "labels", "erasures"} {
		schema := compile(t, topic+".v1")
		checked := 0
		datadriven.RunTest(t, "testdata/decode/"+topic, func(t *testing.T, d *datadriven.TestData) string {
			rec, limits := parseCase(t, d)
			custom := !reflect.DeepEqual(limits, ingest.DefaultLimits())
			if rec.Value == nil || custom {
				return d.Expected
			}
			_, err := decode(t, topic, rec, limits)
			var refusal *ingest.Refusal
			if err != nil {
				require.ErrorAs(t, err, &refusal)
				// Go's parser repairs characters that are broken.
				repaired := refusal.Reason == ingest.Unparseable && json.Valid(rec.Value) && rec.Value[0] == '{'
				if beyond[refusal.Reason] || repaired {
					return d.Expected
				}
			}
			checked++
			value, parseErr := jsonschema.UnmarshalJSON(bytes.NewReader(rec.Value))
			accepted := parseErr == nil && schema.Validate(value) == nil
			require.Equal(t, err == nil, accepted, "%s", d.Input)
			return d.Expected
		})
		require.Greater(t, checked, 6, topic)
	}
}

func compile(t *testing.T, topic string) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(schemaText(t, topic)))
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	require.NoError(t, compiler.AddResource(topic, document))
	schema, err := compiler.Compile(topic)
	require.NoError(t, err)
	return schema
}

func schemaText(t *testing.T, topic string) string {
	t.Helper()
	text, err := os.ReadFile("schemas/" + topic + ".json")
	require.NoError(t, err)
	return string(text)
}
