package metrics

import (
	"slices"
	"strconv"
	"strings"

	"lethe/metrics/events"
)

// results are the published results. Suppressed counts as accepted: otherwise a producer could find out whether a
// transaction was erased.
func results() []events.Result {
	return slices.DeleteFunc(events.Results(), func(r events.Result) bool { return r == events.Suppressed })
}

// records counts incoming records.
func (f factory) records(o Options) events.Listener {
	consumed := f.counters("lethe_records_consumed_total",
		"Records whose outcome is durable, by topic and result.", "topic", "result")
	deadLetters := f.counters("lethe_dlq_records_total",
		"Records kept as dead letters, by topic and reason.", "topic", "reason")
	lag := f.gauges("lethe_consumer_lag_records",
		"Records of a partition that this process has yet to consume.", "topic", "partition")
	missed := f.counters("lethe_records_missed_total",
		"Offsets that were stepped over because they cannot be read, by topic and reason.", "topic", "reason")
	for _, topic := range o.Topics {
		for _, result := range results() {
			consumed.WithLabelValues(topic, string(result))
		}
		for _, reason := range o.Reasons {
			deadLetters.WithLabelValues(topic, reason)
		}
	}
	topic := func(name string) string { return within(strings.TrimPrefix(name, o.TopicPrefix), o.Topics) }
	all := slices.Concat(o.Topics, o.Followed)
	followed := func(name string) string { return within(strings.TrimPrefix(name, o.TopicPrefix), all) }
	return events.Tee(
		events.On(func(e events.RecordsConsumed) {
			if e.Result == events.Suppressed {
				e.Result = events.Accepted
			}
			consumed.WithLabelValues(topic(e.Topic), within(e.Result, results())).Add(float64(max(0, e.Count)))
		}),
		events.On(func(e events.RecordDeadLettered) {
			deadLetters.WithLabelValues(topic(e.Topic), within(e.Reason, o.Reasons)).Inc()
		}),
		events.On(func(e events.LagMeasured) {
			lag.WithLabelValues(followed(e.Topic), strconv.Itoa(e.Partition)).Set(float64(e.Records))
		}),
		events.On(func(e events.RecordsMissed) {
			missed.WithLabelValues(followed(e.Topic), within(e.Reason, o.Reasons)).Add(float64(max(0, e.To-e.From)))
		}),
	)
}

// surroundings tracks brokers, topics, the disk, and what is waited for.
func (f factory) surroundings(o Options) events.Listener {
	reachable := f.gauge("lethe_broker_reachable", "Whether a broker answered when it was last asked: 1 or 0.")
	waiting := f.gauge("lethe_partitions_waiting",
		"Topics and partitions that cannot be read or written at present and are waited for.")
	disk := f.gauge("lethe_disk_writes_waiting",
		"Files of which a write waits because their disk does not take it: it is full, or not for writing.")
	problems := f.gauge("lethe_topic_problems",
		"What is wrong with topics until an operator looks: settings, what was not read, topics that are others.")
	waits := f.gauges("lethe_waiting",
		"Whether something waits for a person: 1 or 0, by cause. lethe status says what to do.", "cause")
	begin(waits, o.Causes)
	return events.Tee(
		events.On(func(e events.BrokersProbed) {
			reachable.Set(0)
			if e.Reachable {
				reachable.Set(1)
			}
		}),
		events.On(func(e events.OutageChanged) {
			waiting.Set(float64(e.Places))
			problems.Set(float64(e.Problems))
		}),
		events.On(func(e events.WaitsChanged) {
			for _, cause := range o.Causes {
				waits.WithLabelValues(cause).Set(0)
			}
			for _, cause := range e.Causes {
				waits.WithLabelValues(within(cause, o.Causes)).Set(1)
			}
		}),
		events.On(func(e events.DiskChanged) { disk.Set(float64(e.Paths)) }),
	)
}

// webhooks tracks the delivery of alerts.
func (f factory) webhooks() events.Listener {
	tries := f.counters("lethe_webhook_tries_total", "Tries to post an alert, by what came of them.", "outcome")
	begin(tries, events.WebhookOutcomes())
	undelivered := f.gauge("lethe_webhook_undelivered",
		"Alerts that were not delivered and are tried again when the process starts.")
	return events.On(func(e events.WebhookTried) {
		if e.Outcome != "" {
			tries.WithLabelValues(within(e.Outcome, events.WebhookOutcomes())).Inc()
		}
		undelivered.Set(float64(e.Undelivered))
	})
}
