package metrics

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"
)

// other replaces a label value outside its set.
const other = "other"

// within returns the value if it is in the set, else other.
func within(value string, set []string) string {
	if slices.Contains(set, value) {
		return value
	}
	return other
}

// texts converts a list of named texts to label values.
func texts[T ~string](values []T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}

func gauge(name, help string) prometheus.Gauge {
	return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
}

func gauges(name, help, label string) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{label})
}

// counters creates a counter for every value of one label, all at 0.
func counters(name, help, label string, values []string) *prometheus.CounterVec {
	vec := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{label})
	for _, v := range values {
		vec.WithLabelValues(v)
	}
	return vec
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
