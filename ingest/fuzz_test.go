package ingest_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"lethe/ingest"
	"lethe/ingest/ingesttest"
)

var topics = []string{"transactions", "labels", "erasures"}

// FuzzDecode reads arbitrary records of every topic. jsontext, which is as strict
// as the formats ask for, is the judge of what is JSON.
func FuzzDecode(f *testing.F) {
	for _, value := range []string{
		`{"type":"transaction","id":"a","timestep":1,"features":[0.5,-1e-3,0]}`,
		`{"type":"payment","source":"a","target":"b","timestep":1}`,
		`{"type":"label","id":"a","timestep":1,"label":"illicit"}`,
		`{"type":"close","timestep":1}`,
		`{"type":"settle","timestep":9007199254740992}`,
		`{"type":"marker"}`,
		`{"type":"erasure","request_id":"a","nodes":["b","c"],"scope":"shard",` +
			`"reason":"","requested_at":"2026-01-02T03:04:05Z"}`,
		`{"type":"marker","type":"marker"}`,
		`{"x":` + strings.Repeat("[", 33) + strings.Repeat("]", 33) + `}`,
		`{"id":"\ud83d\ude00 \ud83d \u0061\"\\\/\b\f\n\r\t"}`,
		"\ufeff{}", `{"a":01}`, `{"a":NaN}`, `{"a":-}`, `{"a":1e999}`, "{\"a\":\"\xff\"}", `{}{}`, ``,
	} {
		f.Add([]byte("a"), []byte(value))
	}
	f.Fuzz(func(t *testing.T, key, value []byte) {
		for _, topic := range topics {
			event, err := decode(t, topic, ingest.Record{Key: key, Value: value}, ingest.DefaultLimits())
			if err == nil {
				require.NotNil(t, event)
				require.True(t, value == nil || jsontext.Value(value).IsValid(), "accepted what is no JSON")
				continue
			}
			require.Nil(t, event)
			var refusal *ingest.Refusal
			require.ErrorAs(t, err, &refusal)
			require.True(t, refusal.Reason.Known())
			require.True(t, utf8.ValidString(refusal.Detail))
			if refusal.Reason == ingest.Unparseable && !strings.HasPrefix(refusal.Detail, "nested too deep") {
				require.False(t, jsontext.Value(value).IsValid() && jsontext.Value(value).Kind() == '{', "refused an object")
			}
		}
	})
}

// FuzzDeadLetter reads arbitrary headers back, and what is refused comes back as
// it was.
func FuzzDeadLetter(f *testing.F) {
	f.Add([]byte("key"), []byte("value"), "lethe.dlq.reason", []byte("late"))
	f.Add([]byte{}, []byte{}, "lethe.dlq.null", []byte("key,value"))
	f.Add([]byte("key"), []byte(nil), "lethe.dlq.partition", []byte("-1"))
	f.Fuzz(func(t *testing.T, key, value []byte, name string, header []byte) {
		rec := ingest.Record{Topic: "t", Partition: 2, Offset: 3, Key: key, Value: value,
			Headers: []ingest.Header{{Key: name, Value: header}}}
		if _, err := ingesttest.ParseDeadLetter(rec); err != nil && !errors.Is(err, ingesttest.ErrNotDeadLetter) {
			t.Fatal(err)
		}
		dead := ingest.DeadLetter(rec, &ingest.Refusal{Reason: ingest.Late, Detail: "by 3"}, "v1")
		letter, err := ingesttest.ParseDeadLetter(ingest.Record{Key: dead.Key, Value: dead.Value, Headers: dead.Headers})
		require.NoError(t, err)
		if strings.HasPrefix(name, "lethe.dlq.") {
			rec.Headers = nil // told by its newest refusal only
		}
		require.Equal(t, rec, letter.Record)
	})
}
