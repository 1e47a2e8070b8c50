package service_test

import (
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/audit"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/scoring"
	"lethe/service"
	"lethe/service/servicetest"
)

// posted collects the transactions of the alerts that a webhook delivers.
type posted struct {
	mu  sync.Mutex
	ids map[lethe.TransactionID]bool
}

func (p *posted) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var said struct {
		Data scoring.Prediction `json:"data"`
	}
	if json.Unmarshal(body, &said) == nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.ids[said.Data.Transaction] = true
	}
}

func (p *posted) all() []lethe.TransactionID {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(maps.Keys(p.ids))
}

// Who may write to the topics and has not the secret neither hides an alert nor makes one: what people, programs and
// receivers of webhooks are shown is the deployment's own.
func TestForgedResultsAreNotShown(t *testing.T) {
	stream := servicetest.SmallStream(t, 4, 60, 43)
	c := servicetest.SmallConfig(t, t.TempDir())
	c.HTTP.Address = net.JoinHostPort("127.0.0.1", strconv.Itoa(freePort(t)))
	c.Scoring.Threshold = "budget:7"
	got := &posted{ids: make(map[lethe.TransactionID]bool)}
	receives := httptest.NewServer(got)
	defer receives.Close()
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD\n"), 0o600))
	c.Webhooks.URL, c.Webhooks.SecretFile, c.Webhooks.AllowPrivate = receives.URL, secret, true
	s := start(t, c)
	s.Replay(stream)
	shown := func(path string) string { return page(t, c.HTTP.Address, "/api/v1/"+path) }
	var alerts string
	s.Quiet()
	require.Eventually(t, func() bool { // webhooks are posted behind
		alerts = shown("alerts")
		return len(got.all()) > 0 && strings.Count(alerts, `"probability"`) == len(got.all()) &&
			len(s.Newest(bus.Reasons)) > 0
	}, servicetest.WaitFor, servicetest.Tick)
	alerts, letters, leaves := shown("alerts"), shown("dead-letters"), shown("log/leaves")
	delivered := got.all()

	topics := s.Forger()
	write := func(topic bus.Topic, records ...ingest.Outgoing) {
		require.NoError(t, topics.Write(t.Context(), topic, records))
	}
	hidden, made := delivered[0], lethe.TransactionID("forged-alert")
	for _, value := range s.Newest(bus.Predictions) {
		p, err := scoring.DecodePrediction([]byte(value))
		require.NoError(t, err)
		if p.Transaction != hidden || !p.Final {
			continue
		}
		licit, alert := *p, *p
		licit.Class, licit.Probability = lethe.Licit.String(), 0
		alert.Transaction, alert.ID, alert.Class = made, strings.Repeat("f", len(p.ID)), lethe.Illicit.String()
		for _, forged := range []scoring.Prediction{licit, alert} {
			value, err := scoring.EncodePrediction(&forged)
			require.NoError(t, err)
			write(bus.Predictions, ingest.Outgoing{Key: ingest.TransactionKey(forged.Transaction), Value: value})
		}
	}
	write(bus.Reasons, ingest.Outgoing{Key: ingest.TransactionKey(hidden)})
	write(bus.Receipts, ingest.Outgoing{Key: []byte("forged-1"), Value: []byte(`{"payload":"x"}`)})
	write(bus.Log, ingest.Outgoing{Key: []byte("0000000000000000"), Value: []byte(`{"forged":true}`)})
	write(bus.DeadLetters, ingest.DeadLetter(ingest.Record{
		Topic: "transactions.v1", Offset: 1, Key: []byte("forged"), Value: []byte("{}"),
	}, &ingest.Refusal{Reason: ingest.Unparseable}, "forged"))
	require.Eventually(t, func() bool {
		ready := page(t, c.HTTP.Address, "/readyz")
		isMissing := func(topic bus.Topic) bool { return !strings.Contains(ready, string(topic)) }
		return !slices.ContainsFunc(bus.Results(), isMissing)
	}, servicetest.WaitFor, servicetest.Tick, "each topic is named")
	s.Quiet()
	require.Equal(t, delivered, got.all())
	require.Equal(t, alerts, shown("alerts"))
	require.Equal(t, letters, shown("dead-letters"))
	require.Equal(t, leaves, shown("log/leaves"))
	require.Contains(t, shown("erasures/forged-1/receipt"), "no such request")
	require.Contains(t, page(t, c.HTTP.Address, "/metrics"), `lethe_records_missed_total{reason="unproven"`)
	s.Stop()
	report, err := audit.Check(t.Context(), audit.Options{Config: c})
	require.NoError(t, err)
	said := strings.Join(report.Problems, "\n")
	for _, topic := range bus.Results() {
		require.Contains(t, said, string(topic))
	}
	s = start(t, c)
	s.Await(func(st *service.Status) bool { return st.TrainedThrough == 4 && st.LagRecords == 0 })
}
