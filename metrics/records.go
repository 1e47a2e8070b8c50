package metrics

import (
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"lethe/metrics/events"
)

// recordMetrics counts incoming records.
type recordMetrics struct {
	prefix          string
	topics, reasons []string
	// followed are the topics, and those for which only the lag is reported.
	followed    []string
	consumed    *prometheus.CounterVec
	deadLetters *prometheus.CounterVec
	lag         *prometheus.GaugeVec
	missed      *prometheus.CounterVec
	reachable   prometheus.Gauge
	waiting     prometheus.Gauge
	disk        prometheus.Gauge
	problems    prometheus.Gauge
	causes      []string
	waits       *prometheus.GaugeVec
}

func newRecordMetrics(opts Options) *recordMetrics {
	m := &recordMetrics{
		prefix: opts.TopicPrefix, topics: opts.Topics, reasons: opts.Reasons,
		followed: slices.Concat(opts.Topics, opts.Followed),
		consumed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "lethe_records_consumed_total",
			Help: "Records whose outcome is durable, by topic and result.",
		}, []string{"topic", "result"}),
		deadLetters: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "lethe_dlq_records_total",
			Help: "Records kept as dead letters, by topic and reason.",
		}, []string{"topic", "reason"}),
		lag: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "lethe_consumer_lag_records",
			Help: "Records of a partition that this process has yet to consume.",
		}, []string{"topic", "partition"}),
		missed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "lethe_records_missed_total",
			Help: "Offsets that were stepped over because they cannot be read, by topic and reason.",
		}, []string{"topic", "reason"}),
		reachable: gauge("lethe_broker_reachable", "Whether a broker answered when it was last asked: 1 or 0."),
		waiting: gauge("lethe_partitions_waiting",
			"Topics and partitions that cannot be read or written at present and are waited for."),
		disk: gauge("lethe_disk_writes_waiting",
			"Files of which a write waits because their disk does not take it: it is full, or not for writing."),
		problems: gauge("lethe_topic_problems",
			"What is wrong with topics until an operator looks: settings, what was not read, topics that are others."),
	}
	m.causes = opts.Causes
	m.waits = gauges("lethe_waiting",
		"Whether something is waited for that somebody has to end: 1 or 0, by cause. lethe status says what to do.", "cause")
	for _, cause := range m.causes {
		m.waits.WithLabelValues(cause)
	}
	for _, topic := range opts.Topics {
		for _, result := range results() {
			m.consumed.WithLabelValues(topic, string(result))
		}
		for _, reason := range opts.Reasons {
			m.deadLetters.WithLabelValues(topic, reason)
		}
	}
	return m
}

// results are the published results. Suppressed counts as accepted: otherwise a producer could find out whether a
// transaction was erased.
func results() []events.Result {
	return slices.DeleteFunc(events.Results(), func(r events.Result) bool { return r == events.Suppressed })
}

func (m *recordMetrics) listener() events.Listener {
	return events.Listener{
		RecordsConsumed: func(e events.RecordsConsumed) {
			if e.Result == events.Suppressed {
				e.Result = events.Accepted
			}
			result := within(string(e.Result), texts(results()))
			m.consumed.WithLabelValues(m.topic(e.Topic), result).Add(float64(max(0, e.Count)))
		},
		RecordDeadLettered: func(e events.RecordDeadLettered) {
			m.deadLetters.WithLabelValues(m.topic(e.Topic), within(e.Reason, m.reasons)).Inc()
		},
		LagMeasured: func(e events.LagMeasured) {
			m.lag.WithLabelValues(m.followedTopic(e.Topic), strconv.Itoa(e.Partition)).Set(float64(e.Records))
		},
		RecordsMissed: func(e events.RecordsMissed) {
			m.missed.WithLabelValues(m.followedTopic(e.Topic), within(e.Reason, m.reasons)).Add(float64(max(0, e.To-e.From)))
		},
		BrokersProbed: func(e events.BrokersProbed) {
			m.reachable.Set(0)
			if e.Reachable {
				m.reachable.Set(1)
			}
		},
		OutageChanged: func(e events.OutageChanged) {
			m.waiting.Set(float64(e.Places))
			m.problems.Set(float64(e.Problems))
		},
		WaitsChanged: func(e events.WaitsChanged) {
			for _, cause := range m.causes {
				m.waits.WithLabelValues(cause).Set(0)
			}
			for _, cause := range e.Causes {
				m.waits.WithLabelValues(within(cause, m.causes)).Set(1)
			}
		},
		DiskChanged: func(e events.DiskChanged) { m.disk.Set(float64(e.Paths)) },
	}
}

func (m *recordMetrics) topic(name string) string {
	return within(strings.TrimPrefix(name, m.prefix), m.topics)
}

func (m *recordMetrics) followedTopic(name string) string {
	return within(strings.TrimPrefix(name, m.prefix), m.followed)
}

func (m *recordMetrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.consumed, m.deadLetters, m.lag, m.missed, m.reachable, m.waiting, m.disk,
		m.problems, m.waits}
}
