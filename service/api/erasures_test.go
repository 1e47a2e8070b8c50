package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/ingest/bus"
	"lethe/pipeline/view"
	"lethe/service/api"
)

func entryOf(t testing.TB, id string, target lethe.TransactionID) deletions.Entry {
	entry, err := deletions.NewEntry(secret, lethe.ErasureRequest{RequestID: id, Targets: lethe.Transactions(target)},
		time.Unix(5, 0))
	require.NoError(t, err)
	return entry
}

func status(t testing.TB, id string) []byte {
	entry := entryOf(t, id, "somebody")
	said := entry.Status()
	value, err := said.Encode()
	require.NoError(t, err)
	return value
}

func (s *site) says(said deletions.Status) {
	value, err := said.Encode()
	require.NoError(s.t, err)
	s.write(bus.ErasureStatus, said.Key(), value)
}

// V25: a request is found by its digest, so that a rejected one is never shown as the one that has its name.
func TestErasure_NameTaken_IsFoundByItsDigest(t *testing.T) {
	s := newSite(t)
	first, second := entryOf(t, "gdpr-1", "somebody"), entryOf(t, "gdpr-1", "somebody-else")
	verified := first.Status()
	verified.State = deletions.Verified
	verified.Outcomes[0].Outcome = deletions.OutcomeErased
	s.says(verified)
	rejected := second.Refuse(deletions.RejectedConflict, time.Unix(6, 0))
	s.says(rejected)

	var page api.Page[deletions.Report]
	s.get("/erasures", &page)
	require.Len(t, page.Items, 2)
	require.Equal(t, []string{"verified", "rejected: request_id_conflict"},
		[]string{page.Items[0].Summary, page.Items[1].Summary})
	for _, key := range []string{second.Digest.String(), second.Digest.String()[:view.LeastDigits]} {
		var one api.Erasure
		s.get("/erasures/"+key, &one)
		require.Equal(t, deletions.Rejected, one.State)
		require.Equal(t, deletions.RejectedConflict, one.Failure)
		require.Empty(t, one.Result)
		require.Equal(t, []lethe.Digest{first.Digest}, one.SameName)
	}
	var named api.Erasure
	s.get("/erasures/gdpr-1", &named)
	require.Equal(t, first.Digest, named.RequestDigest)
	require.Equal(t, []lethe.Digest{second.Digest}, named.SameName)
	require.Equal(t, deletions.ResultErased, named.Result)

	require.Equal(t, http.StatusNotFound, s.ask(http.MethodGet,
		"/erasures/"+second.Digest.String()+"/receipt", nil).status)
	require.Equal(t, http.StatusConflict, s.ask(http.MethodPost,
		"/erasures/"+second.Digest.String()+"/cancel", nil).status)
	require.Equal(t, http.StatusNotFound, s.ask(http.MethodGet, "/erasures/"+second.Digest.String()[:7], nil).status)
}

// A request that repeats another is that one, and has no row of its own.
func TestErasure_Repeated_IsTheFirst(t *testing.T) {
	s := newSite(t)
	first := entryOf(t, "gdpr-1", "somebody")
	again, err := deletions.NewEntry(secret, lethe.ErasureRequest{
		RequestID: "gdpr-1", Targets: lethe.Transactions("somebody"), Nonce: strings.Repeat("0", 32),
	}, time.Unix(6, 0))
	require.NoError(t, err)
	s.says(first.Status())
	s.says(again.Repeat(first))
	now := first.Status()
	now.State = deletions.Verified
	now.Outcomes[0].Outcome = deletions.OutcomeNothingHeld
	s.says(now)
	var page api.Page[deletions.Report]
	s.get("/erasures", &page)
	require.Len(t, page.Items, 1)
	var one api.Erasure
	s.get("/erasures/"+again.Digest.String(), &one)
	require.Equal(t, first.Digest, one.RequestDigest)
	require.Equal(t, "nothing held", one.Summary)
	require.Equal(t, deletions.ResultNothingHeld, one.Result)
	require.Empty(t, one.SameName)
}

// V34: the page of a request that does not exist answers 404.
func TestErasure_Unknown_IsNoSuchRequest(t *testing.T) {
	s := newSite(t)
	for _, path := range []string{"/erasures/nobody", "/erasures/nobody/receipt", "/erasures/" + strings.Repeat("a", 64)} {
		got := s.ask(http.MethodGet, path, nil)
		require.Equal(t, http.StatusNotFound, got.status)
		require.Contains(t, string(got.body), "there is no such request")
	}
}

func TestErasuresAreListed(t *testing.T) {
	s := newSite(t)
	for _, id := range []string{"r-1", "r-2", "r-3"} {
		s.write(bus.ErasureStatus, id, status(t, id))
	}
	var page api.Page[deletions.Report]
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
