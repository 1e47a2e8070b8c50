package api_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/ingest/bus"
	"lethe/service/api"
)

func status(t *testing.T, id string) []byte {
	entry, err := deletions.NewEntry(secret, lethe.ErasureRequest{RequestID: id, Targets: lethe.Transactions("somebody")},
		time.Unix(5, 0))
	require.NoError(t, err)
	said := entry.Status()
	value, err := said.Encode()
	require.NoError(t, err)
	return value
}

func TestErasuresAreListed(t *testing.T) {
	s := newSite(t)
	for _, id := range []string{"r-1", "r-2", "r-3"} {
		s.write(bus.ErasureStatus, id, status(t, id))
	}
	var page api.StatusPage
	s.get("/erasures?limit=2", &page)
	require.Len(t, page.Items, 2)
	s.get("/erasures?limit=2&cursor="+*page.NextCursor, &page)
	require.Equal(t, "r-3", page.Items[0].RequestID)
	require.Nil(t, page.NextCursor)
	var one deletions.Status
	s.get("/erasures/r-2", &one)
	require.Equal(t, deletions.Received, one.State)
}

// Who sees something of a request is written down first: what cannot be is not shown, and who finds
// nothing has seen nothing.
func TestLooksAtErasuresAreWrittenDown(t *testing.T) {
	s := newSite(t)
	s.write(bus.ErasureStatus, "r-1", status(t, "r-1"))
	status := func(path string) int { return s.ask(http.MethodGet, path, nil).status }
	require.Equal(t, http.StatusOK, status("/erasures"))
	require.Equal(t, http.StatusOK, status("/erasures/r-1"))
	require.Equal(t, http.StatusNotFound, status("/erasures/r-2"))
	require.Equal(t, http.StatusNotFound, status("/erasures/r-1/receipt"))
	require.Equal(t, []string{"", "r-1"}, s.looks)
	s.lookFails = api.NewProblem(http.StatusServiceUnavailable, "the brokers did not take it")
	for _, path := range []string{"/erasures", "/erasures/r-1"} {
		require.Equal(t, http.StatusServiceUnavailable, status(path))
	}
}
