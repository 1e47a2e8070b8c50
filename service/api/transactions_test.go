package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest/bus"
	"lethe/pipeline/view"
	"lethe/scoring/reasons"
	"lethe/service/api"
)

func TestPagesOfPredictions(t *testing.T) {
	s := newSite(t)
	for i := range 7 {
		s.predicted(lethe.TransactionID(fmt.Sprint("a-", i)), lethe.Timestep(i%2), float64(i)/10)
	}
	var got []string
	path := "/predictions?limit=3"
	for pages := 0; ; pages++ {
		var page api.ScoredPage
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
	var page api.ScoredPage
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
