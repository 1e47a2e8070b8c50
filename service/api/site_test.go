package api_test

import (
	"context"
	"crypto/ed25519"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/leakcheck"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/view"
	"lethe/scoring"
	"lethe/scoring/ensemble"
	"lethe/service/api"
	"lethe/service/api/apitest"
	"lethe/service/guard"
	"lethe/trainer"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

var secret = lethe.Secret{9}

// site is the interface over a view of what a test publishes. Every question and every answer is
// compared with the description.
type site struct {
	t       testing.TB
	topics  *roletest.Bus
	session *roletest.Session
	reader  *view.Reader
	// handler is the API without a guard.
	handler http.Handler
	server  *httptest.Server
	checks  *apitest.Description
	// asked are the routes that were.
	asked map[string]bool
	// keys are those of the deployment, labels what was published.
	keys   []ed25519.PublicKey
	labels []lethe.LabelRecord
	holds  []api.Hold
	// looks are the requests that somebody looked at, lookFails why that cannot be written down.
	looks     []string
	lookFails error
}

func newSite(t testing.TB) *site {
	t.Helper()
	s := &site{t: t, topics: roletest.NewBus(nil), asked: make(map[string]bool)}
	around := role.Around(s.topics, nil, slog.New(slog.DiscardHandler))
	around.FS = vfs.NewMem()
	follower, reader, err := view.New(view.Options{Dir: "/view", Secret: secret, Instance: "1", Surroundings: around})
	require.NoError(t, err)
	s.reader = reader
	s.session, err = roletest.Begin(t.Context(), follower)
	require.NoError(t, err)
	ending, end := context.WithCancel(context.Background())
	interfaces := api.New(api.Options{
		View:   func() *view.Reader { return s.reader },
		Status: func(w http.ResponseWriter, _ *http.Request) { api.Refuse(w, http.StatusServiceUnavailable, "not here") },
		Plan:   func(w http.ResponseWriter, _ *http.Request) { api.Refuse(w, http.StatusServiceUnavailable, "not here") },
		Keys:   func() []ed25519.PublicKey { return s.keys },
		Layout: ensemble.Layout{
			Shards: 4, Components: []ensemble.Component{{Config: trainer.Config{Model: "trees"}, Groups: 2}},
		},
		Signers: func([]string) (signed, others []string) { return []string{"anna"}, []string{"bert"} },
		Actions: s.actions(), Ending: ending.Done(), Logger: slog.New(slog.DiscardHandler),
	})
	s.handler = interfaces.Handler()
	s.server = httptest.NewServer(guard.Before(s.handler, guard.Options{
		MaxBody: 4 << 20, Refuse: api.Refuse, Now: time.Now,
	}))
	t.Cleanup(func() {
		end()
		http.DefaultClient.CloseIdleConnections()
		s.server.Close()
		require.NoError(t, s.session.Close())
		require.NoError(t, follower.Close())
	})
	s.checks, err = apitest.Read(api.Description())
	require.NoError(t, err)
	return s
}

func (s *site) write(topic bus.Topic, key string, value []byte) {
	require.NoError(s.t, s.topics.Write(s.t.Context(), topic, []ingest.Outgoing{{Key: []byte(key), Value: value}}))
	s.read()
}

// read lets the view read all that is there.
func (s *site) read() {
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
