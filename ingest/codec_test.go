package ingest_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/ingest"
)

func id() *rapid.Generator[lethe.TransactionID] {
	return rapid.Custom(func(rt *rapid.T) lethe.TransactionID {
		text := ingest.DefaultLimits().Name(rapid.StringN(1, 40, 256).Filter(lethe.ValidID).Draw(rt, "id"))
		return lethe.TransactionID(text)
	})
}

func timestep() *rapid.Generator[lethe.Timestep] {
	return rapid.Map(rapid.Int64Range(0, 1<<53), func(n int64) lethe.Timestep { return lethe.Timestep(n) })
}

func feature() *rapid.Generator[float32] {
	return rapid.Map(rapid.Uint32(), math.Float32frombits).Filter(func(f float32) bool {
		return !math.IsNaN(float64(f)) && !math.IsInf(float64(f), 0)
	})
}

func TestCodecRoundTrips(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		check := func(topic string, want ingest.Event, key, value []byte, err error) {
			require.NoError(rt, err)
			require.True(rt, json.Valid(value))
			limits := ingest.DefaultLimits()
			limits.MaxMagnitude = math.MaxFloat32
			got, err := decode(rt, topic, ingest.Record{Partition: 3, Key: key, Value: value}, limits)
			require.NoError(rt, err)
			require.Equal(rt, want, got)
		}
		a, b := id().Draw(rt, "a"), id().Draw(rt, "b")
		at := timestep().Draw(rt, "timestep")

		tx := lethe.Transaction{ID: a, Timestep: at, Features: rapid.SliceOfN(feature(), 1, 20).Draw(rt, "features")}
		key, value, err := ingest.EncodeTransaction(tx)
		check("transactions", ingest.Transaction{Transaction: tx}, key, value, err)

		payment := lethe.Payment{Source: a, Target: b, Timestep: at}
		if key, value, err = ingest.EncodePayment(payment); a == b {
			require.Error(rt, err)
		} else {
			check("transactions", ingest.Payment{Payment: payment}, key, value, err)
			event, err := ingest.DecodeTransactions(ingest.Record{Key: key}, ingest.DefaultLimits())
			require.NoError(rt, err)
			require.Equal(rt, ingest.Ignored{}, event)
		}

		label := lethe.LabelRecord{ID: a, Timestep: at, Label: lethe.Label(rapid.IntRange(0, 2).Draw(rt, "label"))}
		key, value, err = ingest.EncodeLabel(label)
		check("labels", ingest.Label{LabelRecord: label}, key, value, err)

		key, value = ingest.EncodeClose(at, 3)
		check("transactions", ingest.Close{Timestep: at}, key, value, nil)
		key, value = ingest.EncodeSettle(at, 3)
		check("labels", ingest.Settle{Timestep: at}, key, value, nil)
		for _, topic := range []string{"transactions", "labels", "erasures"} {
			key, value = ingest.EncodeMarker(3)
			check(topic, ingest.Ignored{}, key, value, nil)
		}

		request := lethe.ErasureRequest{
			RequestID: rapid.StringMatching(`[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}`).Draw(rt, "request"),
			Targets:   lethe.Transactions(rapid.SliceOfNDistinct(id(), 1, 5, rapid.ID).Draw(rt, "nodes")...),
			Scope:     rapid.SampledFrom([]lethe.Scope{lethe.ScopeShard, lethe.ScopeStubs}).Draw(rt, "scope"),
			Reason:    rapid.StringN(0, 50, 1024).Draw(rt, "reason"),
		}
		when := time.Unix(rapid.Int64Range(1, 4e9).Draw(rt, "when"), 5000).UTC()
		key, value, err = ingest.EncodeErasure(request, when)
		check("erasures", ingest.Erasure{ErasureRequest: request, RequestedAt: when}, key, value, err)
	})
}

func TestMissingFeaturesAreNull(t *testing.T) {
	want := []float32{lethe.Missing(), 0, lethe.Missing()}
	key, value, err := ingest.EncodeTransaction(lethe.Transaction{ID: "a", Timestep: 1, Features: want})
	require.NoError(t, err)
	require.JSONEq(t, `{"type":"transaction","id":"a","timestep":1,"features":[null,0,null]}`, string(value))
	event, err := ingest.DecodeTransactions(ingest.Record{Key: key, Value: value}, ingest.DefaultLimits())
	require.NoError(t, err)
	got := event.(ingest.Transaction).Features
	for i := range want {
		require.Equal(t, math.Float32bits(want[i]), math.Float32bits(got[i]), "the bits are those of one NaN")
	}
}

func TestEncodeRefusesWhatDecodeWould(t *testing.T) {
	infinite := float32(math.Inf(-1))
	reason := func(_, _ []byte, err error) ingest.Reason {
		var refusal *ingest.Refusal
		require.ErrorAs(t, err, &refusal)
		return refusal.Reason
	}
	require.Equal(t, ingest.BadID, reason(ingest.EncodeTransaction(lethe.Transaction{ID: "a b", Features: []float32{1}})))
	require.Equal(t, ingest.FeatureCount, reason(ingest.EncodeTransaction(lethe.Transaction{ID: "a"})))
	require.Equal(t, ingest.FeatureNotFinite,
		reason(ingest.EncodeTransaction(lethe.Transaction{ID: "a", Features: []float32{infinite}})))
	require.Equal(t, ingest.BadTimestep, reason(ingest.EncodeTransaction(lethe.Transaction{ID: "a", Timestep: -1,
		Features: []float32{1}})))
	require.Equal(t, ingest.BadID, reason(ingest.EncodePayment(lethe.Payment{Source: ">", Target: "b"})))
	require.Equal(t, ingest.BadID, reason(ingest.EncodePayment(lethe.Payment{Source: "a"})))
	require.Equal(t, ingest.UnknownLabel, reason(ingest.EncodeLabel(lethe.LabelRecord{ID: "a", Label: 3})))
	require.Equal(t, ingest.BadTimestep, reason(ingest.EncodeLabel(lethe.LabelRecord{ID: "a", Timestep: 1<<53 + 1})))
	require.Equal(t, ingest.BadRequestID, reason(ingest.EncodeErasure(lethe.ErasureRequest{RequestID: "a/b"},
		time.Time{})))
	require.Equal(t, ingest.NodeCount, reason(ingest.EncodeErasure(lethe.ErasureRequest{RequestID: "r"}, time.Time{})))
	require.Equal(t, ingest.BadReasonText, reason(ingest.EncodeErasure(
		lethe.ErasureRequest{RequestID: "r", Targets: lethe.Transactions("a"), Reason: "\xff"}, time.Time{})))
}

// Any text that is taken is JSON to encoding/json too, and says the same; an
// object that is JSON is never called unreadable. The texts are records with
// pieces put in or taken out.
func TestTakenRecordsAreJSON(t *testing.T) {
	pieces := rapid.SampledFrom([]string{
		`{`, `}`, `[`, `]`, `,`, `:`, `"`, `\`, ` `, "\n", `1`, `-`, `.`, `e`, `0`, `null`, `true`, "\x00", "\xff",
		"\u00fc", `"id":"a",`, `"x":{"y":[]},`, `\u0061`, `\ud83d\ude00`, `\ud83d`, `.5e-3`,
	})
	records := rapid.SampledFrom([]string{
		`{"type":"transaction","id":"a","timestep":1,"features":[1,2]}`,
		` { "features" : [ -1.5e3 , 0 ] , "id" : "\u0061" , "timestep" : 10 , "type" : "transaction" } `,
	})
	took, refused := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		text := records.Draw(rt, "record")
		for range rapid.IntRange(0, 2).Draw(rt, "edits") {
			at := rapid.IntRange(0, len(text)).Draw(rt, "at")
			if rapid.Bool().Draw(rt, "put in") {
				text = text[:at] + pieces.Draw(rt, "piece") + text[at:]
			} else {
				text = text[:at] + text[min(at+1, len(text)):]
			}
		}
		event, err := ingest.DecodeTransactions(ingest.Record{Key: []byte("a"), Value: []byte(text)}, ingest.DefaultLimits())
		valid := json.Valid([]byte(text)) && utf8.ValidString(text)
		if err != nil {
			refused++
			var refusal *ingest.Refusal
			require.ErrorAs(rt, err, &refusal)
			if !valid {
				require.Contains(rt, []ingest.Reason{ingest.Unparseable, ingest.DuplicateField}, refusal.Reason, text)
			} else if refusal.Reason == ingest.Unparseable {
				object := strings.HasPrefix(strings.TrimSpace(text), "{")
				alone := strings.Contains(text, `\ud`) // half of a surrogate pair is no text
				require.True(rt, !object || alone, text)
			}
			return
		}
		took++
		require.True(rt, valid, text)
		var plain struct {
			ID       string
			Timestep float64 // 1.0 is an integer to a schema, too
			Features []float32
		}
		require.NoError(rt, json.Unmarshal([]byte(text), &plain))
		taken, ok := event.(ingest.Transaction)
		require.True(rt, ok)
		require.Equal(rt, lethe.Transaction{
			ID: lethe.TransactionID(plain.ID), Timestep: lethe.Timestep(plain.Timestep), Features: plain.Features,
		}, taken.Transaction)
	})
	require.Positive(t, took)
	require.Positive(t, refused)
}
