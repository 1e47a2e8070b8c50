package api_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/service/api"
)

// actions are some that answer as a test wants them to.
func (s *site) actions() api.Actions {
	return api.Actions{
		Look: func(_ context.Context, id string) error {
			s.looks = append(s.looks, id)
			return s.lookFails
		},
		Replay: func(_ context.Context, places []string) (api.ReplayAnswer, error) {
			if slices.Contains(places, "nowhere") {
				return api.ReplayAnswer{}, api.NewProblem(http.StatusNotFound, "no such letter")
			}
			refused := []api.RefusedLetter{{Place: places[0], Why: "it waits"}}
			return api.ReplayAnswer{Sent: len(places) - 1, Refused: refused}, nil
		},
		Submit: func(_ context.Context, r api.ErasureRequest) (api.Submitted, error) {
			if len(r.Nodes) == 0 {
				return api.Submitted{}, api.NewProblem(http.StatusConflict, "signed by people alone")
			}
			return api.Submitted{RequestID: r.RequestID, RequestDigest: lethe.Digest{1}}, nil
		},
		Cancel: func(_ context.Context, id string, _ lethe.Digest) (out deletions.Status, err error) {
			if id != "r-1" {
				return out, api.NewProblem(http.StatusNotFound, "no such request")
			}
			return deletions.DecodeStatus(status(s.t, id))
		},
		Holds: func(context.Context) ([]api.Hold, error) { return s.holds, nil },
		SetHold: func(_ context.Context, r api.HoldRequest) (api.Hold, error) {
			if r.Reason == "" {
				return api.Hold{}, api.NewProblem(http.StatusBadRequest, "reason is absent")
			}
			s.holds = append(s.holds, api.Hold{Name: r.Name, State: "in_force", Transactions: len(r.Nodes),
				Subjects: len(r.Subjects), SetAt: time.Unix(1, 0).UTC(), Until: r.Until})
			return s.holds[len(s.holds)-1], nil
		},
		LiftHold: func(_ context.Context, name string) (api.Hold, error) {
			for i := range s.holds {
				if h := &s.holds[i]; h.Name == name {
					h.State, h.LiftedAt = "lifted", time.Unix(2, 0).UTC()
					return *h, nil
				}
			}
			return api.Hold{}, api.NewProblem(http.StatusNotFound, "no hold in force has this name")
		},
		Label: func(_ context.Context, l lethe.LabelRecord) error {
			if l.Label == lethe.Unknown {
				return api.NewProblem(http.StatusServiceUnavailable, "the brokers did not take it")
			}
			s.labels = append(s.labels, l)
			return nil
		},
	}
}

func TestChanges(t *testing.T) {
	s := newSite(t)
	for _, c := range []struct {
		path string
		body any
		want int
	}{
		{"/erasures", api.ErasureRequest{RequestID: "r", Nodes: []string{"a"}, Scope: "stubs"}, http.StatusOK},
		{"/erasures", api.ErasureRequest{}, http.StatusConflict},
		{"/erasures", map[string]any{"node": "a"}, http.StatusBadRequest},
		{"/erasures/r-1/cancel", nil, http.StatusOK},
		{"/erasures/r-2/cancel", nil, http.StatusNotFound},
		{"/dead-letters/replay", api.ReplayRequest{Places: []string{"a/1/2", "a/1/3"}}, http.StatusOK},
		{"/dead-letters/replay", api.ReplayRequest{Places: []string{"nowhere"}}, http.StatusNotFound},
		{"/dead-letters/replay", api.ReplayRequest{Places: []string{}}, http.StatusBadRequest},
	} {
		require.Equal(t, c.want, s.ask(http.MethodPost, c.path, c.body).status, "%+v", c)
	}
}

// What an analyst says of a transaction is published as its label; of one that nobody is to be told
// of nothing is.
func TestLabels(t *testing.T) {
	s := newSite(t)
	s.predicted("somebody", 3, .7)
	at := "/transactions/" + s.reader.RefOf("somebody").String() + "/label"
	for _, c := range []struct {
		path string
		body any
		want int
	}{
		{at, api.LabelRequest{Label: "illicit"}, http.StatusOK},
		{at, api.LabelRequest{Label: "guilty"}, http.StatusBadRequest},
		{at, api.LabelRequest{Label: "unknown"}, http.StatusServiceUnavailable},
		{at, map[string]any{"class": "illicit"}, http.StatusBadRequest},
		{at, nil, http.StatusUnsupportedMediaType},
		{"/transactions/" + strings.Repeat("0", 64) + "/label", api.LabelRequest{Label: "licit"}, http.StatusNotFound},
		{"/transactions/short/label", api.LabelRequest{Label: "licit"}, http.StatusNotFound},
	} {
		require.Equal(t, c.want, s.ask(http.MethodPost, c.path, c.body).status, "%+v", c)
	}
	require.Equal(t, []lethe.LabelRecord{{ID: "somebody", Timestep: 3, Label: lethe.Illicit}}, s.labels)
}

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
