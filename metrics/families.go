package metrics

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// other replaces a label value outside its set.
const other = "other"

// within returns the value if it is in the set, else other.
func within[T ~string](value T, set []T) string {
	if slices.Contains(set, value) {
		return string(value)
	}
	return other
}

// factory creates metrics in a registry.
type factory struct{ promauto.Factory }

func (f factory) gauge(name, help string) prometheus.Gauge {
	return f.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
}

func (f factory) gauges(name, help string, labels ...string) *prometheus.GaugeVec {
	return f.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
}

func (f factory) counters(name, help string, labels ...string) *prometheus.CounterVec {
	return f.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

// begin creates the series of each value of a metric's only label, all at 0.
func begin[M any, T ~string](vec interface{ WithLabelValues(labels ...string) M }, values []T) {
	for _, v := range values {
		vec.WithLabelValues(string(v))
	}
}

// timing returns the options of a histogram of durations: explicit buckets for all scrapers, and
// native ones for those that support them.
func timing(name, help string, buckets []float64) prometheus.HistogramOpts {
	return prometheus.HistogramOpts{
		Name: name, Help: help, Buckets: buckets,
		NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 100,
	}
}

// Buckets in seconds. Steps take milliseconds on small graphs and minutes on
// large ones; an erasure may wait for Kafka's cleaner for hours.
func stepBuckets() []float64 {
	return []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}
}

func erasureBuckets() []float64 {
	return []float64{.01, .05, .1, .5, 1, 5, 10, 30, 60, 300, 900, 3600, 6 * 3600, 24 * 3600}
}

// scoreBuckets are twentieths, each computed by division so that their labels are short: summing
// .05 gives 0.15000000000000002.
func scoreBuckets() []float64 {
	buckets := make([]float64, 20)
	for i := range buckets {
		buckets[i] = float64(i+1) / 20
	}
	return buckets
}
