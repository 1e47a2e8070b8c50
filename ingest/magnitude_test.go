package ingest_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"lethe"
	"lethe/ingest"
	"lethe/internal/floatbytes"
)

// Wherever in a row of whatever length a feature stands that is at the bound, beyond it, infinite or missing, it is
// told, in either format.
func TestEachFeatureOfARowIsJudged(t *testing.T) {
	limits := ingest.DefaultLimits()
	limits.MaxMagnitude = 8
	next := math.Nextafter32
	for n := 1; n <= 11; n++ {
		for at := range n {
			for _, c := range []struct {
				value float32
				want  ingest.Reason
			}{
				{8, ""}, {-8, ""}, {next(8, 9), ingest.FeatureMagnitude}, {next(-8, -9), ingest.FeatureMagnitude},
				{math.MaxFloat32, ingest.FeatureMagnitude}, {lethe.Missing(), ""}, {float32(math.Copysign(0, -1)), ""},
				{float32(math.Inf(-1)), ingest.FeatureNotFinite}, {math.Float32frombits(0xffc00001), ""},
			} {
				features := slices.Repeat([]float32{1.5}, n)
				features[at] = c.value
				for _, value := range rowsOf(t, features) {
					event, err := ingest.DecodeTransactions(ingest.Record{Key: []byte("a"), Value: value}, limits)
					what := fmt.Sprintf("feature %d of %d is %g", at, n, c.value)
					if c.want != "" {
						var refusal *ingest.Refusal
						require.ErrorAs(t, err, &refusal, what)
						require.Equal(t, c.want, refusal.Reason, what)
						require.Contains(t, refusal.Detail, fmt.Sprintf("feature %d ", at), what)
						continue
					}
					require.NoError(t, err, what)
					if c.value != c.value {
						features[at] = lethe.Missing() // whatever its bits were
					}
					got := event.(ingest.Transaction).Features
					require.Equal(t, floatbytes.Append(nil, features), floatbytes.Append(nil, got), what)
				}
			}
		}
	}
}

// A missing feature hides none that is beyond the bound.
func TestAMissingFeatureHidesNone(t *testing.T) {
	limits := ingest.DefaultLimits()
	limits.MaxMagnitude = 8
	for _, value := range rowsOf(t, []float32{lethe.Missing(), 1, 9, lethe.Missing()}) {
		_, err := ingest.DecodeTransactions(ingest.Record{Key: []byte("a"), Value: value}, limits)
		require.ErrorContains(t, err, "feature 2 is beyond ±8")
	}
}

// rowsOf are records of a row: packed, in two parts, one by one, and as JSON if that has such values.
func rowsOf(t *testing.T, features []float32) (values [][]byte) {
	t.Helper()
	packed, single := floatbytes.Append(nil, features), []byte(nil)
	for _, v := range features {
		single = protowire.AppendFixed32(protowire.AppendTag(single, 3, protowire.Fixed32Type), math.Float32bits(v))
	}
	half := len(features) / 2 * 4
	id, step := text(1, "a"), number(2, 1)
	values = append(values, framed(0, id, step, text(3, string(packed))), framed(0, id, single, step),
		framed(0, text(3, string(packed[:half])), id, text(3, string(packed[half:])), step))
	tr := lethe.Transaction{ID: "a", Timestep: 1, Features: features}
	if _, spelled, err := ingest.EncodeTransaction(tr); err == nil {
		values = append(values, spelled)
	}
	return values
}
