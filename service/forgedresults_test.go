package service_test

import (
	"slices"
	"strings"
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

// Who may write to the topics and has not the secret neither hides an alert nor makes one: what people, programs and
// receivers of webhooks are shown is the deployment's own.
func TestForgedResultsAreNotShown(t *testing.T) {
	stream := servicetest.SmallStream(t, 4, 60, 43)
	c := servicetest.SmallConfig(t, t.TempDir())
	inbox := servicetest.Alerting(t, &c)
	delivered := func() []string { return slices.Compact(slices.Sorted(slices.Values(inbox.Told()))) }
	s := start(t, c)
	s.Replay(stream)
	shown := func(path string) string { return s.Page("/api/v1/" + path) }
	var alerts string
	s.Quiet()
	require.Eventually(t, func() bool { // webhooks are posted behind
		alerts = shown("alerts")
		return len(delivered()) > 0 && strings.Count(alerts, `"probability"`) == len(delivered()) &&
			len(s.Newest(bus.Reasons)) > 0
	}, servicetest.WaitFor, servicetest.Tick)
	alerts, letters, leaves := shown("alerts"), shown("dead-letters"), shown("log/leaves")
	told := delivered()

	topics := s.Forger()
	write := func(topic bus.Topic, records ...ingest.Outgoing) {
		require.NoError(t, topics.Write(t.Context(), topic, records))
	}
	hidden, made := lethe.TransactionID(told[0]), lethe.TransactionID("forged-alert")
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
		ready := s.Page("/readyz")
		isMissing := func(topic bus.Topic) bool { return !strings.Contains(ready, string(topic)) }
		return !slices.ContainsFunc(bus.Results(), isMissing)
	}, servicetest.WaitFor, servicetest.Tick, "each topic is named")
	s.Quiet()
	require.Equal(t, told, delivered())
	require.Equal(t, alerts, shown("alerts"))
	require.Equal(t, letters, shown("dead-letters"))
	require.Equal(t, leaves, shown("log/leaves"))
	require.Contains(t, shown("erasures/forged-1/receipt"), "no such request")
	require.Contains(t, s.Page("/metrics"), `lethe_records_missed_total{reason="unproven"`)
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
