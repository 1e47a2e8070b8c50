package metrics

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"lethe/metrics/events"
)

// Metrics holds every metric of lethe. It is a prometheus.Collector and is safe for concurrent use.
type Metrics struct {
	build    prometheus.Gauge
	records  *recordMetrics
	steps    *timestepMetrics
	models   *modelMetrics
	erasures *erasureMetrics
	success  *successMetrics
	webhooks *webhookMetrics
}

// New creates the metrics and registers them. It fails if the options are incomplete or if a metric
// of the same name is already registered.
func New(registry prometheus.Registerer, opts Options) (*Metrics, error) {
	if err := opts.Validate(); err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	m := &Metrics{
		build: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "lethe_build_info",
			Help: "Always 1; what is running is in the labels.",
			ConstLabels: prometheus.Labels{
				"version": opts.Version, "revision": opts.Revision, "kernels": opts.Kernels,
			},
		}),
		records:  newRecordMetrics(opts),
		steps:    newTimestepMetrics(),
		models:   newModelMetrics(),
		erasures: newErasureMetrics(opts.Now),
		success:  newSuccessMetrics(opts.Now),
		webhooks: newWebhookMetrics(),
	}
	m.build.Set(1)
	if err := registry.Register(m); err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	return m, nil
}

// Listener returns the functions that feed the metrics.
func (m *Metrics) Listener() events.Listener {
	return events.Tee(
		m.records.listener(), m.steps.listener(), m.models.listener(),
		m.erasures.listener(), m.success.listener(), m.webhooks.listener(),
	)
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(to chan<- *prometheus.Desc) {
	for _, c := range m.collectors() {
		c.Describe(to)
	}
}

// Collect implements prometheus.Collector.
func (m *Metrics) Collect(to chan<- prometheus.Metric) {
	for _, c := range m.collectors() {
		c.Collect(to)
	}
}

func (m *Metrics) collectors() []prometheus.Collector {
	all := []prometheus.Collector{m.build}
	all = append(all, m.records.collectors()...)
	all = append(all, m.steps.collectors()...)
	all = append(all, m.models.collectors()...)
	all = append(all, m.erasures.collectors()...)
	all = append(all, m.webhooks.collectors()...)
	return append(all, m.success.collectors()...)
}
