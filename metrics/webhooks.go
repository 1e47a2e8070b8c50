package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"lethe/metrics/events"
)

// webhookMetrics tracks the delivery of alerts.
type webhookMetrics struct {
	tries       *prometheus.CounterVec
	undelivered prometheus.Gauge
}

func newWebhookMetrics() *webhookMetrics {
	return &webhookMetrics{
		tries: counters("lethe_webhook_tries_total", "Tries to post an alert, by what came of them.", "outcome",
			texts(events.WebhookOutcomes())),
		undelivered: gauge("lethe_webhook_undelivered",
			"Alerts that were not delivered and are tried again when the process starts."),
	}
}

func (m *webhookMetrics) listener() events.Listener {
	return events.Listener{WebhookTried: func(e events.WebhookTried) {
		if e.Outcome != "" {
			m.tries.WithLabelValues(within(string(e.Outcome), texts(events.WebhookOutcomes()))).Inc()
		}
		m.undelivered.Set(float64(e.Undelivered))
	}}
}

func (m *webhookMetrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.tries, m.undelivered}
}
