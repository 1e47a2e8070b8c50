package api_test

import (
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions/receipt"
	"lethe/deletions/translog"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/view"
	"lethe/scoring/reasons"
	"lethe/service/api"
)

// A proof that the API gives convinces whoever has the log's key.
func TestTheLogIsProven(t *testing.T) {
	s := newSite(t)
	require.Equal(t, http.StatusNotFound, s.ask(http.MethodGet, "/log", nil).status)
	require.Equal(t, http.StatusNotFound, s.ask(http.MethodGet, "/log/leaves/0/proof", nil).status)
	require.Equal(t, http.StatusNotFound, s.ask(http.MethodGet, "/erasures/r-1/receipt", nil).status)
	s.write(bus.Receipts, "r-1", []byte(`{"payload":"e30","signatures":[]}`))
	require.Equal(t, http.StatusOK, s.ask(http.MethodGet, "/erasures/r-1/receipt", nil).status)

	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	signer, err := translog.NewSigner(translog.Name("test"), key)
	require.NoError(t, err)
	tree := new(translog.Tree)
	for i := range 5 {
		leaf, err := translog.Encode(translog.Setup{Digest: lethe.Digest{byte(i + 1)}})
		require.NoError(t, err)
		require.NoError(t, tree.Append(leaf))
		s.write(bus.Log, fmt.Sprintf("%016d", i), leaf)
	}
	now, err := tree.Now()
	require.NoError(t, err)
	signed, err := signer.Sign(now)
	require.NoError(t, err)
	s.write(bus.Log, "checkpoint", []byte(signed.Note))
	s.keys = []ed25519.PublicKey{key.Public().(ed25519.PublicKey)}
	var keys api.KeysAnswer
	s.get("/log/keys", &keys)
	first := api.PublicKey{ID: receipt.KeyID(s.keys[0]), Key: "O2onvM62pC1io6jQKm8Nc2UyFXcd4kOmOsBIoYtZ2ik"}
	require.Equal(t, []api.PublicKey{first}, keys.Keys)
	var log api.LogAnswer
	s.get("/log", &log)
	require.EqualValues(t, 5, log.Size)
	var page api.Page[api.LogLeaf]
	s.get("/log/leaves?limit=3", &page)
	require.Len(t, page.Items, 3)
	s.get("/log/leaves?limit=3&cursor="+*page.NextCursor, &page)
	require.Len(t, page.Items, 2)
	require.EqualValues(t, 4, page.Items[1].Index)
	require.Nil(t, page.NextCursor)
	for i := range 5 {
		var proof translog.Proof
		s.get(fmt.Sprintf("/log/leaves/%d/proof", i), &proof)
		_, _, err := proof.Check(translog.Name("test"), key.Public().(ed25519.PublicKey))
		require.NoError(t, err)
	}
	require.Equal(t, http.StatusNotFound, s.ask(http.MethodGet, "/log/leaves/5/proof", nil).status)
	require.Equal(t, http.StatusBadRequest, s.ask(http.MethodGet, "/log/leaves?cursor=AAAA", nil).status)
}

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
	var page api.Page[view.Letter]
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

func TestPagesOfPredictions(t *testing.T) {
	s := newSite(t)
	for i := range 7 {
		s.predicted(lethe.TransactionID(fmt.Sprint("a-", i)), lethe.Timestep(i%2), float64(i)/10)
	}
	var got []string
	path := "/predictions?limit=3"
	for pages := 0; ; pages++ {
		var page api.Page[api.Scored]
		s.get(path, &page)
		for _, p := range page.Items {
			got = append(got, string(p.Transaction))
		}
		if page.NextCursor == nil {
			require.Equal(t, 2, pages)
			break
		}
		path = "/predictions?limit=3&cursor=" + *page.NextCursor
	}
	require.Equal(t, []string{"a-6", "a-5", "a-4", "a-3", "a-2", "a-1", "a-0"}, got)
	var page api.Page[api.Scored]
	s.get("/alerts?timestep=1", &page)
	require.Len(t, page.Items, 1)
	s.get("/predictions?min_probability=0.2&max_probability=0.4", &page)
	require.Len(t, page.Items, 3)
}

func TestTransactions(t *testing.T) {
	s := newSite(t)
	s.predicted("tx/1?q=é", 3, .7)
	record := reasons.Record{
		Transaction: "tx/1?q=é", Timestep: 3, EnsembleVersion: lethe.Digest{1}, TrainedThrough: 2,
		Components: []reasons.Component{{Model: "gin", Groups: 2, Reasons: []reasons.Reason{}}},
	}
	value, err := record.Encode()
	require.NoError(t, err)
	s.write(bus.Reasons, "tx/1?q=é", value)
	out := s.ask(http.MethodPost, "/transactions/lookup", api.LookupRequest{IDs: []string{"nobody", "tx/1?q=é"}})
	require.Equal(t, http.StatusOK, out.status)
	var found api.LookupAnswer
	require.NoError(t, json.Unmarshal(out.body, &found))
	require.Equal(t, []int{0}, found.Missing)
	require.True(t, found.Transactions[0].Explained)
	ref := found.Transactions[0].Ref.String()
	require.NotContains(t, ref, "tx")
	var again view.Transaction
	s.get("/transactions/"+ref, &again)
	require.Equal(t, found.Transactions[0], &again)
	var why reasons.Record
	s.get("/transactions/"+ref+"/reasons", &why)
	require.Equal(t, record, why)
	require.Equal(t, http.StatusNotFound, s.ask(http.MethodGet, "/transactions/"+ref+"/neighbourhood", nil).status,
		"its timestep is open")
}
