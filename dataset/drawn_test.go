package dataset_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe/dataset"
	"lethe/ingest"
)

// A row of the features file and the same transaction as a record: either both are accepted, with the same
// content, or both are refused.
func TestDrawnRows_FilesAndIntake_Agree(t *testing.T) {
	limits := ingest.DefaultLimits()
	bounds := dataset.Bounds{Magnitude: limits.MaxMagnitude, Features: limits.MaxFeatureCount}
	number := rapid.OneOf(rapid.SampledFrom([]string{
		"", "0", "5.0", "50e-1", "-0", "-0.0", "1e3", "1E+3", "5.5", "-1", "01", "+1",
		"1.", ".5", "0x1p-2", "1_000", "1e6", "1000001",
		"1e39", "1e-50", "NaN", "nan", "Inf", "-inf", "null", "true", "9007199254740992.0", "9007199254740993", "3.4e38",
		"0e99", "1e400", "1e-400", "16777217", "0.1", "1;5",
	}), rapid.StringMatching(`-?[0-9]{1,5}(\.[0-9]{1,3})?(e-?[0-9])?`))
	id := rapid.OneOf(rapid.SampledFrom([]string{
		"", "a", "!a", "a!", "a>b", "a b", " a", "a,b", `a"b`, `"`, "a\u200db", "a\u00a0b", "\ufeffa",
		"\u0378", "\ue000", "<a&b>", "a;b",
		"a\tb", "a\nb", "a\r", strings.Repeat("a", 256), strings.Repeat("a", 257), strings.Repeat("漢", 256),
		strings.Repeat("漢", 257),
	}), rapid.String())
	rapid.Check(t, func(rt *rapid.T) {
		name, step, feature := id.Draw(rt, "id"), number.Draw(rt, "timestep"), number.Draw(rt, "feature")
		quoted, err := json.Marshal(name)
		require.NoError(rt, err)
		orNull := func(number string) string {
			if number == "" {
				return "null"
			}
			return number
		}
		event, refusal := ingest.DecodeTransactions(ingest.Record{
			Key: []byte(name), Value: []byte(`{"type":"transaction","id":` +
				string(quoted) + `,"timestep":` + orNull(step) + `,"features":[` + orNull(feature) + `,1]}`)}, limits)

		field := `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
		s, err := dataset.ReadElliptic(t.Context(), fstest.MapFS{
			dataset.FeaturesFile: {Data: []byte("good,7,1,1\n" + field + "," + step + "," + feature + ",1\n")},
			dataset.EdgesFile:    {Data: []byte("txId1,txId2\n")},
			dataset.ClassesFile:  {Data: []byte("txId,class\ngood,1\n" + field + ",unknown\n")},
		}, dataset.EllipticOptions{Bounds: bounds})
		if feature == "null" || step == "null" {
			return // the word of JSON for what is an empty field
		}
		require.Equal(rt, refusal == nil, err == nil, "record: %v; files: %v", refusal, err)
		if err != nil {
			require.NotContains(rt, err.Error(), "\n")
			require.ErrorIs(rt, err, dataset.ErrMalformed)
			return
		}
		accepted, is := event.(ingest.Transaction)
		require.True(rt, is)
		for _, of := range s.Steps {
			for _, tx := range of.Transactions {
				if string(tx.ID) == name {
					require.Equal(rt, accepted.Timestep, tx.Timestep)
					require.Equal(rt, math.Float32bits(accepted.Features[0]), math.Float32bits(tx.Features[0]))
				}
			}
		}
	})
}
