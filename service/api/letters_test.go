package api_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/view"
	"lethe/service/api"
)

func TestDeadLetters(t *testing.T) {
	s := newSite(t)
	for offset := range int64(3) {
		letter := ingest.DeadLetter(ingest.Record{
			Topic: "lethe.labels.v1", Offset: offset, Key: []byte(fmt.Sprint("person-", offset)), Value: []byte(`{"a":1}`),
			Time: time.Unix(5, 0),
		}, &ingest.Refusal{Reason: ingest.UnknownLabel, Detail: "no label"}, "test")
		require.NoError(t, s.topics.Write(t.Context(), bus.DeadLetters, []ingest.Outgoing{letter}))
	}
	s.write(bus.DeadLetters, "!marker/0", []byte("marker"))
	var page api.LetterPage
	s.get("/dead-letters?limit=2&reason=unknown_label&topic=labels.v1", &page)
	require.Len(t, page.Items, 2)
	s.get("/dead-letters?limit=2&reason=unknown_label&topic=labels.v1&cursor="+*page.NextCursor, &page)
	require.Len(t, page.Items, 1)
	require.Nil(t, page.NextCursor)
	var one view.Letter
	got := s.get("/dead-letters/"+page.Items[0].Place, &one)
	require.Equal(t, page.Items[0], one)
	require.NotContains(t, string(got.body), "person")
	for path, want := range map[string]int{
		"/dead-letters?reason=none":          http.StatusBadRequest,
		"/dead-letters?topic=slices.v1":      http.StatusBadRequest,
		"/dead-letters?cursor=AAAA":          http.StatusBadRequest,
		"/dead-letters/labels.v1/0/9":        http.StatusNotFound,
		"/dead-letters/labels.v1/0/-1":       http.StatusNotFound,
		"/dead-letters/labels.v1/many/1":     http.StatusNotFound,
		"/dead-letters/labels.v1/0/0?more=1": http.StatusOK,
	} {
		response, err := http.Get(s.server.URL + api.Prefix + path)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, want, response.StatusCode, path)
	}
}
