package service_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/service/servicetest"
)

// scrape reads the counts and gauges of lethe; of histograms of times their counts alone.
func scrape(r *running) map[string]float64 {
	r.T.Helper()
	out := make(map[string]float64)
	for line := range strings.Lines(r.Page("/metrics")) {
		series, value, found := strings.Cut(strings.TrimSpace(line), "} ")
		if series += "}"; !found {
			series, value, _ = strings.Cut(strings.TrimSpace(line), " ")
		}
		name, _, _ := strings.Cut(series, "{")
		timed := strings.HasSuffix(name, "_seconds_bucket") || strings.HasSuffix(name, "_seconds_sum") ||
			strings.HasSuffix(name, "_age_seconds") || name == "lethe_last_success_timestamp_seconds"
		if !strings.HasPrefix(name, "lethe_") || timed {
			continue
		}
		number, err := strconv.ParseFloat(value, 64)
		require.NoError(r.T, err, line)
		out[series] = number
	}
	return out
}

// settledScrape is a scrape after which nothing changes for a moment.
func settledScrape(r *running) map[string]float64 {
	r.T.Helper()
	text := func(m map[string]float64) string { return fmt.Sprint(m) } // NaN is no equal of itself
	last, same := scrape(r), 0
	require.Eventually(r.T, func() bool {
		now := scrape(r)
		if same++; text(now) != text(last) {
			last, same = now, 0
		}
		return same == 5
	}, servicetest.WaitFor, servicetest.Tick)
	return last
}

// changes are the series that differ between two scrapes, and by how much.
func changes(before, after map[string]float64) map[string]string {
	out := make(map[string]string)
	for series, value := range after {
		if was := before[series]; fmt.Sprint(was) != fmt.Sprint(value) {
			out[series] = fmt.Sprintf("%+g", value-was)
		}
	}
	return out
}

// telling are the metrics that differ between a record that names something erased and one of an unknown name, and why:
// docs/threat-model.md names them all. No other one may differ.
func telling() map[string]string {
	const scored, kept, asked = "what is erased is not scored", "what is erased is not kept, not even as a dead letter",
		"what comes late of an erased subject is erased by a request"
	return map[string]string{
		"lethe_predictions_total": scored, "lethe_score": scored, "lethe_provisional_predictions_total": scored,
		"lethe_provisional_delay_seconds": scored, "lethe_scoring_duration_seconds": scored, "lethe_score_drift_psi": scored,
		"lethe_dlq_records_total": kept, "lethe_records_consumed_total": kept, "lethe_snapshot_timestep": kept,
		"lethe_snapshot_build_duration_seconds": kept,
		"lethe_erasure_requests_total":          asked, "lethe_erasure_results_total": asked,
		"lethe_erasure_duration_seconds": asked, "lethe_erasure_elapsed_seconds": asked,
		"lethe_erasure_open_requests": asked, // until it is verified
	}
}

// Records of an id that was erased and of one that nobody has seen, and of subjects likewise, change the same metrics
// by as much, but for those that telling lists.
func TestScrape_ProbesOfErasedNames_DifferWhereTheThreatModelNamesIt(t *testing.T) {
	if testing.Short() {
		t.Skip("compares two deployments, where nothing is at once")
	}
	t.Parallel()
	const erasedSubject, unknownSubject = "customer-17", "customer-18"
	stream := servicetest.SmallStream(t, 4, 60, 9)
	erased := servicetest.LabelledIllicit(stream, 2)[0]
	threats, err := os.ReadFile(filepath.Join("..", "docs", "threat-model.md"))
	require.NoError(t, err)
	var told [2]map[string]map[string]string
	for i, names := range [][2]string{{string(erased), erasedSubject}, {"never-seen", unknownSubject}} {
		s := start(t, servicetest.SmallConfig(t, t.TempDir()))
		s.Replay(stream)
		eraseTargets(s, "erased", lethe.Transactions(erased)[0], lethe.SubjectThrough(erasedSubject, 9))
		s.Quiet()
		told[i] = probes(s, lethe.TransactionID(names[0]), names[1], servicetest.Step(stream, 1).Transactions[0].Features)
		s.Stop()
	}
	differing := make(map[string]bool)
	for probe, series := range told[1] {
		for name, change := range told[0][probe] {
			if series[name] != change {
				differing[familyOf(name)] = true
			}
			delete(series, name)
		}
		for name := range series {
			differing[familyOf(name)] = true
		}
	}
	for family := range differing {
		assert.Contains(t, telling(), family)
		assert.Contains(t, string(threats), "`"+family+"`")
	}
	require.Contains(t, differing, "lethe_provisional_predictions_total", "the probes should show what is known to tell")
}

// familyOf is the metric that a series belongs to.
func familyOf(series string) string {
	name, _, _ := strings.Cut(series, "{")
	for _, suffix := range []string{"_count", "_bucket", "_sum"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return name
}

// probes sends records of an id and a subject, and returns how each changes what is scraped.
func probes(r *running, id lethe.TransactionID, subject string, features []float32) map[string]map[string]string {
	transaction := func(t lethe.Transaction) sending { return sendingOf(bus.Transactions)(ingest.EncodeTransaction(t)) }
	payment := lethe.Payment{Source: id, Target: "somebody", Timestep: 5}
	label := lethe.LabelRecord{ID: id, Timestep: 5, Label: lethe.Illicit}
	out := make(map[string]map[string]string)
	before := settledScrape(r)
	for _, probe := range []struct {
		name string
		sending
	}{
		{"refused", transaction(lethe.Transaction{ID: id, Timestep: 5, Features: features[1:]})},
		{"taken", transaction(lethe.Transaction{ID: id, Timestep: 5, Features: features})},
		{"payment", sendingOf(bus.Transactions)(ingest.EncodePayment(payment))},
		{"label", sendingOf(bus.Labels)(ingest.EncodeLabel(label))},
		{"carrier", transaction(
			lethe.Transaction{ID: "carrier", Timestep: 5, Features: features, Subjects: []string{subject}})},
	} {
		send(r, probe.topic)(probe.key, probe.value, probe.err)
		r.Quiet()
		after := settledScrape(r)
		out[probe.name] = changes(before, after)
		before = after
	}
	for partition := range 2 {
		key, value := ingest.EncodeClose(5, partition)
		writeTo(r, bus.Transactions, partition, key, value)
	}
	r.Quiet()
	out["closed"] = changes(before, settledScrape(r))
	return out
}

func TestMetricsLogin_Scrape_NeedsATokenOfAnyRole(t *testing.T) {
	t.Parallel()
	c := servicetest.SmallConfig(t, t.TempDir())
	c.HTTP.MetricsLogin = true
	require.ErrorContains(t, c.Validate(), "http.metrics_login")
	tokens := people(t, &c, "viewer")
	s := start(t, c)
	ask := func(path, token string) int {
		response := s.Ask(http.MethodGet, path, "", "Authorization", servicetest.Bearer(token))
		return response.StatusCode
	}
	require.Equal(t, http.StatusUnauthorized, ask("/metrics", ""))
	require.Equal(t, http.StatusOK, ask("/metrics", tokens["viewer"]))
	require.Equal(t, http.StatusOK, ask("/livez", ""))
	s.Stop()
}
