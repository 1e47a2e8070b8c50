package metrics_test

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/metrics"
	"lethe/metrics/events"
)

// process is a registry with the metrics of one process and a clock that the
// test moves.
type process struct {
	registry *prometheus.Registry
	listener events.Listener
	clock    time.Time
}

func newProcess(t *testing.T) *process {
	t.Helper()
	p := &process{registry: prometheus.NewPedanticRegistry(), clock: time.Unix(1_700_000_000, 0)}
	p.listener = metrics.New(p.registry, metrics.Options{
		Version: "v1.2.3", Revision: "abc", Kernels: "portable", TopicPrefix: "lethe.",
		Topics: topics(), Followed: []string{"slices.v1"}, Reasons: reasons(),
		Causes: []string{"partition_behind", "disk_full"},
		Now:    func() time.Time { return p.clock },
	})
	return p
}

func topics() []string { return []string{"transactions.v1", "labels.v1", "erasures.v1"} }

func reasons() []string {
	all := make([]string, 0, len(ingest.Reasons()))
	for _, r := range ingest.Reasons() {
		all = append(all, string(r))
	}
	return all
}

// everything sends one event of each kind.
func (p *process) everything() {
	l := p.listener
	l(events.RecordsConsumed{Topic: "lethe.transactions.v1", Result: events.Accepted, Count: 3})
	l(events.RecordDeadLettered{Topic: "labels.v1", Reason: "late"})
	l(events.LagMeasured{Topic: "lethe.labels.v1", Partition: 2, Records: 17})
	l(events.LagMeasured{Topic: "slices.v1", Partition: 1, Records: 5})
	l(events.RecordsMissed{Topic: "slices.v1", Partition: 1, From: 3, To: 7, Reason: "corrupt_batch"})
	l(events.BrokersProbed{Reachable: true})
	l(events.OutageChanged{Places: 2, Problems: 3})
	l(events.DiskChanged{Paths: 4})
	l(events.WaitsChanged{Causes: []string{"partition_behind"}})
	l(events.SnapshotChanged{Timestep: 4, State: lethe.Open})
	l(events.SnapshotChanged{Timestep: 3, State: lethe.Closed, Duration: 30 * time.Millisecond})
	l(events.SnapshotChanged{Timestep: 2, State: lethe.Settled})
	l(events.SnapshotPartitioned{Timestep: 2, Balance: -.01, Fairness: -.02, EdgeCut: .25,
		Duration: time.Second})
	l(events.ShardTrained{Timestep: 2, Reason: events.Unlearn, Steps: 30, Duration: 2 * time.Second})
	l(events.EnsembleSwapped{Timestep: 2, Version: lethe.Digest{0xab, 0xcd}})
	l(events.SnapshotScored{Timestep: 3, Illicit: []float64{.1, .2, .9}, IllicitCount: 1,
		Duration: time.Millisecond})
	l(events.ReasonsOwed{Alerts: 37})
	l(events.ProvisionallyScored{Predictions: 3, Delays: []time.Duration{20 * time.Millisecond}})
	l(events.QualityMeasured{
		Timestep: 3, AUC: .9, MacroF1: .8, IllicitF1: math.NaN(), CalibrationError: .05,
	})
	l(events.SnapshotScored{Timestep: 4, Illicit: []float64{.1, .2, .9}})
	l(events.WebhookTried{Outcome: events.WebhookDelivered, Undelivered: 2})
	l(events.ErasureChanged{State: "verified", Elapsed: 2 * time.Minute})
	l(events.ErasurePhaseDone{Phase: events.Retrain, Duration: time.Minute})
	l(events.ErasureVerificationFailed{})
	l(events.ErasuresOpen{Count: 2, OldestReceived: p.clock.Add(-time.Hour)})
}

// TestMetrics shows every sample that is not 0 after each event.
// Metrics are read without a token: they do not say that a record was dropped because its transaction is erased.
func TestRecordsConsumed_Suppressed_CountsAsAccepted(t *testing.T) {
	read := func(r events.Result) (text string) {
		p := newProcess(t)
		p.listener(events.RecordsConsumed{Topic: "lethe.transactions.v1", Result: r, Count: 3})
		families, err := p.registry.Gather()
		require.NoError(t, err)
		for _, f := range families {
			if f.GetName() == "lethe_records_consumed_total" {
				text += f.String()
			}
		}
		return regexp.MustCompile(`created_timestamp:\{[^}]*\}`).ReplaceAllString(text, "")
	}
	require.Equal(t, read(events.Accepted), read(events.Suppressed))
	require.NotContains(t, read(events.Suppressed), "suppressed")
}

func TestMetrics(t *testing.T) {
	datadriven.RunTest(t, "testdata/metrics", func(t *testing.T, d *datadriven.TestData) string {
		p := newProcess(t)
		switch d.Cmd {
		case "fresh":
		case "everything":
			p.everything()
		case "strange": // values outside their sets
			p.listener(events.RecordsConsumed{Topic: "lethe.who-knows", Result: "odd", Count: 2})
			p.listener(events.RecordsConsumed{Topic: "labels.v1", Result: events.Ignored, Count: -5})
			p.listener(events.RecordDeadLettered{Topic: "transactions.v1", Reason: "card 4711"})
			p.listener(events.SnapshotChanged{Timestep: 9, State: 77})
			p.listener(events.ShardTrained{Reason: "fun"})
			p.listener(events.ErasureChanged{State: "lost"})
			p.listener(events.ErasurePhaseDone{Phase: "nap"})
		case "again": // what replaces, what adds up
			p.everything()
			p.everything()
			p.clock = p.clock.Add(time.Minute)
			p.listener(events.SnapshotChanged{Timestep: 1, State: lethe.Settled})
			p.listener(events.EnsembleSwapped{Timestep: 3, Version: lethe.Digest{0xef}})
		case "done":
			p.everything()
			p.listener(events.ErasuresOpen{})
		default:
			d.Fatalf(t, "unknown command")
		}
		return samples(t, p.registry)
	})
}

// samples lists what is not 0, one line each.
func samples(t *testing.T, from prometheus.Gatherer) string {
	families, err := from.Gather()
	require.NoError(t, err)
	var b strings.Builder
	for _, family := range families {
		for _, m := range family.GetMetric() {
			labels := make([]string, 0, len(m.GetLabel()))
			for _, l := range m.GetLabel() {
				labels = append(labels, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
			}
			name := fmt.Sprintf("%s{%s}", family.GetName(), strings.Join(labels, ","))
			if h := m.GetHistogram(); h != nil && h.GetSampleCount() > 0 {
				fmt.Fprintf(&b, "%s count=%d sum=%.6g\n", name, h.GetSampleCount(), h.GetSampleSum())
			}
			if value := m.GetGauge().GetValue() + m.GetCounter().GetValue(); value != 0 {
				fmt.Fprintf(&b, "%s %.12g\n", name, value)
			}
		}
	}
	return b.String()
}

// A state that the list lacks would be counted as other.
func TestErasureStatesAreThoseOfTheLedger(t *testing.T) {
	known := deletions.States()
	states := make([]string, len(known))
	for i, s := range known {
		states[i] = string(s)
	}
	require.Equal(t, states, events.ErasureStates())
}

func TestMetricsPassTheLinter(t *testing.T) {
	p := newProcess(t)
	p.everything()
	problems, err := testutil.GatherAndLint(p.registry)
	require.NoError(t, err)
	require.Empty(t, problems)
}

func TestEveryNameHasOurPrefixAndNoIDLabel(t *testing.T) {
	p := newProcess(t)
	p.everything()
	families, err := p.registry.Gather()
	require.NoError(t, err)
	require.NotEmpty(t, families)
	for _, family := range families {
		require.True(t, strings.HasPrefix(family.GetName(), "lethe_"), family.GetName())
		for _, m := range family.GetMetric() {
			for _, label := range m.GetLabel() {
				require.Contains(t, []string{
					"version", "revision", "kernels", "topic", "partition", "result", "reason", "state",
					"class", "phase", "stage", "outcome", "cause",
				}, label.GetName(), family.GetName())
			}
		}
	}
}

// However strange the events, the number of series stays bounded.
func TestSeriesDoNotGrow(t *testing.T) {
	p := newProcess(t)
	p.everything()
	send := func(i int) {
		odd := fmt.Sprint("odd", i)
		p.listener(events.RecordsConsumed{Topic: odd, Result: events.Result(odd)})
		p.listener(events.RecordDeadLettered{Topic: odd, Reason: odd})
		p.listener(events.EnsembleSwapped{Version: lethe.Digest{byte(i), 1}})
		p.listener(events.ErasureChanged{State: odd})
		p.listener(events.SnapshotChanged{State: lethe.State(i)})
	}
	send(200)
	before, err := testutil.GatherAndCount(p.registry)
	require.NoError(t, err)
	var wait sync.WaitGroup
	for i := range 200 {
		wait.Go(func() { send(i) })
	}
	wait.Wait()
	after, err := testutil.GatherAndCount(p.registry)
	require.NoError(t, err)
	require.Equal(t, before, after)
}

func TestOldestAgeGrowsWhileNothingHappens(t *testing.T) {
	p := newProcess(t)
	p.listener(events.ErasuresOpen{Count: 1, OldestReceived: p.clock})
	p.clock = p.clock.Add(90 * time.Second)
	require.NoError(t, testutil.GatherAndCompare(p.registry, strings.NewReader(`
# HELP lethe_erasure_oldest_open_age_seconds Time since the oldest open erasure request was received, 0 if none is open.
# TYPE lethe_erasure_oldest_open_age_seconds gauge
lethe_erasure_oldest_open_age_seconds 90
`), "lethe_erasure_oldest_open_age_seconds"))
}
