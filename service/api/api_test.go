package api_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/translog"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/leakcheck"
	"lethe/metrics/events"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/view"
	"lethe/scoring"
	"lethe/scoring/reasons"
	"lethe/service/api"
	"lethe/service/guard"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

var secret = lethe.Secret{9}

// site is the interface over a view of what a test publishes. Every question and every answer is
// compared with the description.
type site struct {
	t       *testing.T
	topics  *roletest.Bus
	session *roletest.Session
	reader  *view.Reader
	server  *httptest.Server
	checks  validator.Validator
	// asked are the routes that were.
	asked map[string]bool
}

func newSite(t *testing.T) *site {
	s := &site{t: t, topics: roletest.NewBus(nil), asked: make(map[string]bool)}
	around := role.Around(s.topics, events.Listener{}, slog.New(slog.DiscardHandler))
	around.FS = vfs.NewMem()
	follower, reader, err := view.New(view.Options{Dir: "/view", Secret: secret, Instance: "1", Surroundings: around})
	require.NoError(t, err)
	s.reader = reader
	s.session, err = roletest.Begin(t.Context(), follower)
	require.NoError(t, err)
	ending, end := context.WithCancel(context.Background())
	interfaces := api.New(api.Options{
		View:    func() *view.Reader { return s.reader },
		Status:  func(w http.ResponseWriter, _ *http.Request) { api.Refuse(w, http.StatusServiceUnavailable, "not here") },
		Plan:    func(w http.ResponseWriter, _ *http.Request) { api.Refuse(w, http.StatusServiceUnavailable, "not here") },
		Actions: s.actions(), Ending: ending.Done(), Logger: slog.New(slog.DiscardHandler),
	})
	s.server = httptest.NewServer(guard.Before(interfaces.Handler(), guard.Options{
		MaxBody: 4 << 20, Refuse: api.Refuse, Now: time.Now,
	}))
	t.Cleanup(func() {
		end()
		http.DefaultClient.CloseIdleConnections()
		s.server.Close()
		require.NoError(t, s.session.Close())
		require.NoError(t, follower.Close())
	})
	document, err := libopenapi.NewDocument(api.Description())
	require.NoError(t, err)
	checks, errs := validator.NewValidator(document)
	require.Empty(t, errs)
	s.checks = checks
	return s
}

func (s *site) write(topic bus.Topic, key string, value []byte) {
	require.NoError(s.t, s.topics.Write(s.t.Context(), topic, []ingest.Outgoing{{Key: []byte(key), Value: value}}))
	for {
		had, err := s.session.Poll(s.t.Context())
		require.NoError(s.t, err)
		if !had {
			return
		}
	}
}

func (s *site) predicted(id lethe.TransactionID, t lethe.Timestep, probability float64) {
	p := &scoring.Prediction{
		Transaction: id, Timestep: t, Probability: probability, Threshold: .5, Final: true,
		EnsembleVersion: lethe.Digest{1}, TrainedThrough: t - 1, Aggregation: scoring.MethodMean,
	}
	p.Class = scoring.Classify(p.Probability, p.Threshold)
	p.ID = scoring.PredictionID(secret, p, lethe.Digest{4})
	value, err := scoring.EncodePrediction(p)
	require.NoError(s.t, err)
	s.write(bus.Predictions, string(id), value)
}

// answer is what a question came to.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// ask asks, and compares with the description unless the question is to be refused.
func (s *site) ask(method, path string, body any, headers ...string) answer {
	s.t.Helper()
	var sent []byte
	if body != nil {
		var err error
		sent, err = json.Marshal(body)
		require.NoError(s.t, err)
	}
	request := func() *http.Request {
		r, err := http.NewRequestWithContext(s.t.Context(), method, s.server.URL+api.Prefix+path, bytes.NewReader(sent))
		require.NoError(s.t, err)
		if body != nil {
			r.Header.Set("Content-Type", "application/json")
		}
		for i := 0; i+1 < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		return r
	}
	response, err := http.DefaultClient.Do(request())
	require.NoError(s.t, err)
	got, err := io.ReadAll(response.Body)
	require.NoError(s.t, err)
	require.NoError(s.t, response.Body.Close())
	out := answer{response.StatusCode, response.Header, got}
	if response.StatusCode == http.StatusNotModified {
		require.Empty(s.t, got)
		return out
	}
	response.Body = io.NopCloser(bytes.NewReader(got))
	valid, problems := s.checks.ValidateHttpResponse(request(), response)
	require.True(s.t, valid, "%s %s answers %s, which is not as described: %v", method, path, got, texts(problems))
	if response.StatusCode < http.StatusBadRequest {
		valid, problems = s.checks.ValidateHttpRequest(request())
		require.True(s.t, valid, "%s %s is not as described: %v", method, path, texts(problems))
	} else {
		require.Equal(s.t, "application/problem+json", response.Header.Get("Content-Type"))
	}
	return out
}

func (s *site) get(path string, into any) answer {
	s.t.Helper()
	out := s.ask(http.MethodGet, path, nil)
	require.Equal(s.t, http.StatusOK, out.status, "%s", out.body)
	require.NoError(s.t, json.Unmarshal(out.body, into))
	return out
}

func status(t *testing.T, id string) []byte {
	entry, err := deletions.NewEntry(secret, lethe.ErasureRequest{RequestID: id, Targets: lethe.Transactions("somebody")},
		time.Unix(5, 0))
	require.NoError(t, err)
	said := entry.Status()
	value, err := said.Encode()
	require.NoError(t, err)
	return value
}

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

func TestRefusals(t *testing.T) {
	s := newSite(t)
	nobody := "/transactions/" + strings.Repeat("0", 64)
	for _, c := range []struct {
		method, path string
		body         any
		want         int
	}{
		{http.MethodGet, "/predictions?limit=0", nil, http.StatusBadRequest},
		{http.MethodGet, "/predictions?limit=501", nil, http.StatusBadRequest},
		{http.MethodGet, "/predictions?limit=1&limit=2", nil, http.StatusBadRequest},
		{http.MethodGet, "/predictions?min_probability=NaN", nil, http.StatusBadRequest},
		{http.MethodGet, "/predictions?timestep=-1", nil, http.StatusBadRequest},
		{http.MethodGet, "/predictions?cursor=AAAA", nil, http.StatusBadRequest},
		{http.MethodGet, "/predictions?cursor=***", nil, http.StatusBadRequest},
		{http.MethodGet, "/predictions?misspelt=1", nil, http.StatusBadRequest},
		{http.MethodGet, "/timesteps?cursor=AAAA", nil, http.StatusBadRequest},
		{http.MethodGet, nobody, nil, http.StatusNotFound},
		{http.MethodGet, nobody + "/reasons", nil, http.StatusNotFound},
		{http.MethodGet, nobody + "/neighbourhood?distance=4", nil, http.StatusBadRequest},
		{http.MethodGet, "/transactions/short", nil, http.StatusNotFound},
		{http.MethodGet, "/timesteps/seven", nil, http.StatusNotFound},
		{http.MethodGet, "/timesteps/7", nil, http.StatusNotFound},
		{http.MethodGet, "/erasures/nobody", nil, http.StatusNotFound},
		{http.MethodPost, "/transactions/lookup", map[string]any{"ids": []string{}}, http.StatusBadRequest},
		{http.MethodPost, "/transactions/lookup", map[string]any{"ids": []string{""}}, http.StatusBadRequest},
		{http.MethodPost, "/transactions/lookup", map[string]any{"id": "a"}, http.StatusBadRequest},
		{http.MethodPost, "/transactions/lookup", strings.Repeat("x", 2<<20), http.StatusRequestEntityTooLarge},
		{http.MethodPost, "/transactions/lookup", nil, http.StatusUnsupportedMediaType},
	} {
		require.Equal(t, c.want, s.ask(c.method, c.path, c.body).status, "%s %s", c.method, c.path)
	}
	for path, want := range map[string]int{"/nothing": http.StatusNotFound, "/alerts": http.StatusMethodNotAllowed} {
		response, err := http.Post(s.server.URL+api.Prefix+path, "application/json", strings.NewReader("{}"))
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, want, response.StatusCode)
		require.Equal(t, "application/problem+json", response.Header.Get("Content-Type"))
	}
	s.reader = nil
	require.Equal(t, http.StatusServiceUnavailable, s.ask(http.MethodGet, "/alerts", nil).status)
}

func TestWhatHasNotChangedIsNotSentAgain(t *testing.T) {
	s := newSite(t)
	s.predicted("a", 1, .7)
	var page api.ScoredPage
	first := s.get("/alerts", &page)
	tag := first.header.Get("ETag")
	require.NotEmpty(t, tag)
	again := s.ask(http.MethodGet, "/alerts", nil, "If-None-Match", `"other", `+tag)
	require.Equal(t, http.StatusNotModified, again.status)
	s.predicted("b", 1, .8)
	require.Equal(t, http.StatusOK, s.ask(http.MethodGet, "/alerts", nil, "If-None-Match", tag).status)
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

// Whoever waits is told that something has changed, and nothing of what it is.
func TestChangesAreTold(t *testing.T) {
	s := newSite(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.server.URL+api.Prefix+"/events", nil)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, "text/event-stream", response.Header.Get("Content-Type"))
	var told strings.Builder
	await := func(what string) {
		buffer := make([]byte, 512)
		for !strings.Contains(told.String(), what) {
			n, err := response.Body.Read(buffer)
			told.Write(buffer[:n])
			require.NoError(t, err, "%q", told.String())
		}
	}
	await("event: changes\ndata: {}\n\n")
	s.predicted("somebody", 1, .7)
	await(`data: {"predictions":1}`)
	require.NotContains(t, told.String(), "somebody")
}

// The description names every route and no other, and is valid.
func TestEveryRouteIsDescribed(t *testing.T) {
	s := newSite(t)
	valid, problems := s.checks.ValidateDocument()
	require.True(t, valid, "%v", texts(problems))
	var described struct {
		Paths map[string]map[string]any `json:"paths"`
	}
	s.get("/openapi.json", &described)
	var have, want []string
	for path, methods := range described.Paths {
		for method := range methods {
			have = append(have, strings.ToUpper(method)+" "+path)
		}
	}
	for _, route := range api.New(api.Options{}).Routes() {
		want = append(want, route.Method+" "+route.Path)
		require.NotZero(t, route.Needs, "%s needs no right", route.Path)
	}
	slices.Sort(have)
	slices.Sort(want)
	require.Equal(t, want, have)
}

// actions are some that answer as a test wants them to.
func (s *site) actions() api.Actions {
	return api.Actions{
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
		Cancel: func(_ context.Context, id string) (out deletions.Status, err error) {
			if id != "r-1" {
				return out, api.NewProblem(http.StatusNotFound, "no such request")
			}
			return deletions.DecodeStatus(status(s.t, id))
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
	var log api.LogAnswer
	s.get("/log", &log)
	require.EqualValues(t, 5, log.Size)
	var page api.LeafPage
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

// Only compliance sees and changes what erasures name, and each role no more than it needs.
func TestEveryRouteAsksForItsRight(t *testing.T) {
	for _, route := range api.New(api.Options{}).Routes() {
		want := guard.Read
		switch {
		case strings.HasPrefix(route.Path, "/erasures"):
			want = guard.Erase
		case route.Path == "/dead-letters/replay":
			want = guard.Operate
		case strings.HasPrefix(route.Path, "/dead-letters"):
			want = guard.Investigate
		}
		require.Equal(t, want, route.Needs, "%s %s", route.Method, route.Path)
	}
}
