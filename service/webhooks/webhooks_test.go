package webhooks_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/metrics/events"
	"lethe/pipeline/role/roletest"
	"lethe/scoring"
	"lethe/service/webhooks"
)

const secretText = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"

// hidden are transactions that are being erased.
type hidden struct {
	mu  sync.Mutex
	ids map[lethe.TransactionID]bool
}

func (h *hidden) hide(id lethe.TransactionID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ids[id] = true
}

// WhileShown implements webhooks.Shown.
func (h *hidden) WhileShown(id lethe.TransactionID, do func()) bool {
	h.mu.Lock()
	gone := h.ids[id]
	h.mu.Unlock()
	if !gone {
		do()
	}
	return !gone
}

// delivery is what a receiver was sent.
type delivery struct{ id, transaction string }

// receiver takes alerts, and answers with the status that answer says.
type receiver struct {
	t      *testing.T
	secret webhooks.Secret
	mu     sync.Mutex
	got    []delivery
	answer func(transaction string, nth int) int
	asked  map[string]int
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return
	}
	id := request.Header.Get("Webhook-Id")
	seconds, err := time.Parse(time.RFC3339, "2026-03-01T12:00:00Z")
	valid := err == nil && request.Header.Get("Webhook-Signature") == r.secret.Sign(id, seconds, body)
	var said struct {
		Type string `json:"type"`
		Data struct {
			Transaction string `json:"transaction"`
		} `json:"data"`
	}
	if !valid || json.Unmarshal(body, &said) != nil || said.Type != "alert" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked[said.Data.Transaction]++
	status := http.StatusNoContent
	if r.answer != nil {
		status = r.answer(said.Data.Transaction, r.asked[said.Data.Transaction])
	}
	if status < 300 {
		r.got = append(r.got, delivery{id, said.Data.Transaction})
	}
	w.WriteHeader(status)
}

func (r *receiver) transactions() (out []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, d := range r.got {
		out = append(out, d.transaction)
	}
	return out
}

// fixture is a deployment as far as webhooks know it.
type fixture struct {
	t        *testing.T
	topics   *roletest.Bus
	receiver *receiver
	shown    *hidden
	options  webhooks.Options
	mu       sync.Mutex
	outcomes map[events.WebhookOutcome]int
}

func newFixture(t *testing.T) *fixture {
	secret, err := webhooks.ParseSecret(secretText)
	require.NoError(t, err)
	f := &fixture{
		t: t, topics: roletest.NewBus(nil), shown: &hidden{ids: make(map[lethe.TransactionID]bool)},
		receiver: &receiver{t: t, secret: secret, asked: make(map[string]int)},
		outcomes: make(map[events.WebhookOutcome]int),
	}
	server := httptest.NewServer(f.receiver)
	t.Cleanup(server.Close)
	f.options = webhooks.Options{
		URL: server.URL, Secret: secret, AllowPrivate: true, Tries: 3, FirstWait: time.Millisecond,
		LongestWait: 4 * time.Millisecond, Timeout: 10 * time.Second,
		StatePath: filepath.Join(t.TempDir(), "webhooks", "state.json"), Topics: f.topics, Alerts: f.shown,
		Now:    func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) },
		Random: func() float64 { return .5 },
		Listener: events.Tee(events.On(func(e events.WebhookTried) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.outcomes[e.Outcome]++
		})),
		Logger: slog.New(slog.DiscardHandler),
	}
	return f
}

func (f *fixture) told(outcome events.WebhookOutcome) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.outcomes[outcome]
}

// predict publishes a prediction; alerts are likely, others not.
func (f *fixture) predict(id string, probability float64, final bool) {
	f.t.Helper()
	var digest lethe.Digest
	copy(digest[:], id)
	p := scoring.Prediction{
		ID: digest.String(), Transaction: lethe.TransactionID(id), Timestep: 3, Probability: probability, Threshold: .5,
		Class: scoring.Classify(probability, .5), EnsembleVersion: lethe.Digest{1}, Aggregation: "mean", Final: final,
	}
	value, err := scoring.EncodePrediction(&p)
	require.NoError(f.t, err)
	record := ingest.Outgoing{Key: []byte(id), Value: value}
	require.NoError(f.t, f.topics.Write(f.t.Context(), bus.Predictions, []ingest.Outgoing{record}))
}

// run posts until stop, which waits for its end.
func (f *fixture) run() (stop func()) {
	f.t.Helper()
	d, err := webhooks.New(f.t.Context(), f.options)
	require.NoError(f.t, err)
	ctx, cancel := contextOf(f.t)
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	return func() {
		cancel()
		require.NoError(f.t, <-ended)
		require.NoError(f.t, d.Close())
	}
}

// Final predictions of class illicit are delivered once each, in order, with signatures that hold; what
// was there before webhooks were turned on is not, and a start goes on where the last one was.
func TestAlertsAreDelivered(t *testing.T) {
	f := newFixture(t)
	f.predict("before", .9, true)
	stop := f.run()
	f.predict("first", .9, true)
	f.predict("harmless", .1, true)
	f.predict("provisional", .9, false)
	f.predict("second", .8, true)
	require.NoError(t, f.topics.Write(t.Context(), bus.Predictions, []ingest.Outgoing{
		{Key: []byte("!marker/0"), Value: []byte(`{"type":"marker"}`)}, {Key: []byte("first")},
	}))
	require.Eventually(t, func() bool { return f.told(events.WebhookDelivered) == 2 }, time.Minute, time.Millisecond)
	stop()
	f.predict("while stopped", .9, true)
	stop = f.run()
	require.Eventually(t, func() bool { return f.told(events.WebhookDelivered) == 3 }, time.Minute, time.Millisecond)
	stop()
	require.Equal(t, []string{"first", "second", "while stopped"}, f.receiver.transactions())
	require.Equal(t, 3, f.told(events.WebhookDelivered))
	state := read(t, f.options.StatePath)
	for _, id := range []string{"first", "second"} {
		require.NotContains(t, state, id, "what is on disk names nobody")
	}
}

// A receiver that is away for a moment is asked again; one that refuses an alert is not, and what was
// not delivered is tried again at the next start.
func TestWhatIsNotTakenIsTriedAgain(t *testing.T) {
	f := newFixture(t)
	f.receiver.answer = func(transaction string, nth int) int {
		switch {
		case transaction == "busy" && nth == 1:
			return http.StatusServiceUnavailable
		case transaction == "refused":
			return http.StatusBadRequest
		case transaction == "down":
			return http.StatusInternalServerError
		default:
			return http.StatusOK
		}
	}
	stop := f.run()
	for _, id := range []string{"busy", "refused", "down", "last"} {
		f.predict(id, .9, true)
	}
	require.Eventually(t, func() bool { return f.told(events.WebhookDelivered) == 2 }, time.Minute, time.Millisecond)
	stop()
	require.Equal(t, []string{"busy", "last"}, f.receiver.transactions())
	require.Equal(t, map[string]int{"busy": 2, "refused": 1, "down": 3, "last": 1}, f.receiver.asked)
	require.Equal(t, 2, f.told(events.WebhookUndelivered))

	f.receiver.answer = nil
	f.shown.hide("refused")
	stop = f.run()
	require.Eventually(t, func() bool { return f.told(events.WebhookErased) == 1 && f.told(events.WebhookDelivered) == 3 },
		time.Minute, time.Millisecond)
	stop()
	require.Equal(t, []string{"busy", "last", "down"}, f.receiver.transactions(), "what was erased since is not sent")
	require.NotContains(t, read(t, f.options.StatePath), "offset", "nothing is left to be sent")
}

// What is erased between two tries is not sent again.
func TestWhatIsErasedIsNotSentAgain(t *testing.T) {
	f := newFixture(t)
	f.options.Tries = 1000
	f.receiver.answer = func(transaction string, _ int) int {
		f.shown.hide(lethe.TransactionID(transaction))
		return http.StatusServiceUnavailable
	}
	stop := f.run()
	f.predict("erased", .9, true)
	require.Eventually(t, func() bool { return f.told(events.WebhookErased) == 1 }, time.Minute, time.Millisecond)
	stop()
	require.Equal(t, 1, f.receiver.asked["erased"])
}

// The signature is that of the examples of Standard Webhooks.
func TestSignaturesAreThoseOfTheStandard(t *testing.T) {
	secret, err := webhooks.ParseSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	require.NoError(t, err)
	require.Equal(t, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
		secret.Sign("msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`)))
	for _, wrong := range []string{"", "whsec_", "whsec_c2hvcnQ=", strings.TrimPrefix(secretText, "whsec_")} {
		_, err := webhooks.ParseSecret(wrong)
		require.ErrorIs(t, err, webhooks.ErrSecret)
	}
}

// Where a name leads to an address beyond the public network nothing is sent.
func TestPrivateAddressesAreRefused(t *testing.T) {
	f := newFixture(t)
	f.options.URL = "https://localhost:" + f.options.URL[strings.LastIndex(f.options.URL, ":")+1:]
	f.options.AllowPrivate = false
	stop := f.run()
	f.predict("alert", .9, true)
	require.Eventually(t, func() bool { return f.told(events.WebhookUndelivered) == 1 }, time.Minute, time.Millisecond)
	stop()
	require.Empty(t, f.receiver.asked)
}
