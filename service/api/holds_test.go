package api_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/deletions"
	"lethe/service/api"
)

// V29: holds are set, listed and lifted.
func TestHolds_SetAndLifted(t *testing.T) {
	s := newSite(t)
	until := time.Unix(9, 0).UTC()
	asked := api.HoldRequest{
		Name: "case-7", Nodes: []string{"a", "b"}, Subjects: []string{"c"}, Reason: "court", Until: until,
	}
	require.Equal(t, http.StatusOK, s.ask(http.MethodPost, "/holds", asked).status)
	require.Equal(t, http.StatusBadRequest, s.ask(http.MethodPost, "/holds", api.HoldRequest{Nodes: []string{"a"}}).status)
	require.Equal(t, http.StatusBadRequest, s.ask(http.MethodPost, "/holds", map[string]any{"node": "a"}).status)
	var page api.HoldPage
	s.get("/holds", &page)
	require.Equal(t, []api.Hold{{Name: "case-7", State: "in_force", Transactions: 2, Subjects: 1,
		SetAt: time.Unix(1, 0).UTC(), Until: until}}, page.Items)
	require.Equal(t, []string{""}, s.looks, "it is written down who looks")
	require.Equal(t, http.StatusOK, s.ask(http.MethodPost, "/holds/case-7/lift", nil).status)
	require.Equal(t, http.StatusNotFound, s.ask(http.MethodPost, "/holds/case-8/lift", nil).status)
	s.get("/holds", &page)
	require.Equal(t, "lifted", page.Items[0].State)
}

// V27: a request that waits for a signature names the people who have signed, and who may.
func TestErasure_WaitsForSignature_NamesSigners(t *testing.T) {
	s := newSite(t)
	entry := entryOf(t, "gdpr-1", "somebody")
	held := entry.Status()
	held.State, held.SignedBy = deletions.Held, []string{"key-of-anna"}
	held.WaitsFor = &deletions.WaitsFor{Signatures: &deletions.WaitsForSignatures{Given: 1, Needed: 2}}
	s.says(held)
	var one api.Erasure
	s.get("/erasures/gdpr-1", &one)
	require.Equal(t, api.Signers{Signed: []string{"anna"}, MaySign: []string{"bert"}}, one.Signers)
	held.State, held.WaitsFor = deletions.Accepted, nil
	s.says(held)
	one = api.Erasure{}
	s.get("/erasures/gdpr-1", &one)
	require.Zero(t, one.Signers)
}
