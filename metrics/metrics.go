package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"lethe/metrics/events"
)

// Options configures the metrics.
type Options struct {
	// Version, Revision and Kernels fill lethe_build_info: the release, the commit it was built from and the numeric
	// kernel set in use.
	Version, Revision, Kernels string
	// TopicPrefix is removed from topic names before they become labels.
	TopicPrefix string
	// Topics are the consumed topics, without prefix.
	Topics []string
	// Followed are additional topics, for which only the lag is reported.
	Followed []string
	// Reasons are the codes of dead letters.
	Reasons []string
	// Causes are the causes of waits.
	Causes []string
	Now    func() time.Time
}

// New registers every metric of lethe and returns the listener that feeds them.
func New(registry prometheus.Registerer, o Options) events.Listener {
	f := factory{promauto.With(registry)}
	f.NewGauge(prometheus.GaugeOpts{
		Name:        "lethe_build_info",
		Help:        "Always 1; what is running is in the labels.",
		ConstLabels: prometheus.Labels{"version": o.Version, "revision": o.Revision, "kernels": o.Kernels},
	}).Set(1)
	return events.Tee(
		f.records(o), f.surroundings(o), f.timesteps(), f.training(), f.predictions(), f.drift(), f.quality(),
		f.erasures(), f.openErasures(o.Now), f.successes(o.Now), f.webhooks(),
	)
}
