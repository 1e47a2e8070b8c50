package service_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/dataset"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// scrape reads the counts and gauges of lethe; of histograms of times their counts alone.
func (r *running) scrape() map[string]float64 {
	r.t.Helper()
	response, err := http.Get("http://" + r.HTTPAddress() + "/metrics")
	require.NoError(r.t, err)
	body, err := io.ReadAll(response.Body)
	require.NoError(r.t, err)
	require.NoError(r.t, response.Body.Close())
	out := make(map[string]float64)
	for line := range strings.Lines(string(body)) {
		series, value, found := strings.Cut(strings.TrimSpace(line), "} ")
		if series += "}"; !found {
			series, value, _ = strings.Cut(strings.TrimSpace(line), " ")
		}
		name, _, _ := strings.Cut(series, "{")
		timed := strings.HasSuffix(name, "_seconds_bucket") || strings.HasSuffix(name, "_seconds_sum") ||
			name == "lethe_last_success_timestamp_seconds"
		if !strings.HasPrefix(name, "lethe_") || timed {
			continue
		}
		out[series], err = strconv.ParseFloat(value, 64)
		require.NoError(r.t, err, line)
	}
	return out
}

// settled is a scrape after which nothing changes for a moment.
func (r *running) settledScrape() map[string]float64 {
	r.t.Helper()
	text := func(m map[string]float64) string { return fmt.Sprint(m) } // NaN is no equal of itself
	last, same := r.scrape(), 0
	require.Eventually(r.t, func() bool {
		now := r.scrape()
		if same++; text(now) != text(last) {
			last, same = now, 0
		}
		return same == 5
	}, waitFor, tick)
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

func TestScrape_ProbeOfAnErasedID_LooksLikeThatOfAnUnknownOne(t *testing.T) {
	t.Parallel()
	stream := smallStream(t, 4, 60, 9)
	erased := labelledIllicit(stream, 2)[0]
	told := make(map[lethe.TransactionID]map[string]map[string]string)
	for _, id := range []lethe.TransactionID{erased, "never-seen"} {
		s := start(t, smallConfig(t, t.TempDir()))
		s.replay(stream)
		s.erase("erased", lethe.ScopeStubs, erased)
		s.quiet()
		told[id] = s.probes(id, stream)
		s.stop()
	}
	for probe, unknown := range told["never-seen"] {
		t.Logf("%s: unknown %v\n erased %v", probe, unknown, told[erased][probe])
	}
}

func (r *running) probes(id lethe.TransactionID, stream *dataset.Stream) map[string]map[string]string {
	features := stream.Steps[0].Transactions[0].Features
	transaction := func(at lethe.Timestep, features []float32) sending {
		return sendingOf(bus.Transactions)(ingest.EncodeTransaction(lethe.Transaction{ID: id, Timestep: at, Features: features}))
	}
	out := make(map[string]map[string]string)
	before := r.settledScrape()
	for _, probe := range []struct {
		name string
		send sending
	}{
		{"refused", transaction(5, features[1:])},
		{"taken", transaction(5, features)},
		{"further timestep", transaction(7, features)},
		{"label", sendingOf(bus.Labels)(ingest.EncodeLabel(lethe.LabelRecord{ID: id, Timestep: 5, Label: lethe.Illicit}))},
	} {
		r.send(probe.send.topic, probe.send.key, probe.send.value, nil)
		r.quiet()
		time.Sleep(tick)
		after := r.settledScrape()
		out[probe.name] = changes(before, after)
		before = after
	}
	_ = slices.Sorted(maps.Keys(out))
	return out
}
