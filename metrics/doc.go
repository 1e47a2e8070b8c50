// Package metrics turns events into Prometheus metrics and tracks the health of the process. It is
// the only package that depends on Prometheus, as metrics/traces is the only one that depends on
// OpenTelemetry; the others receive an events.Listener.
//
// All names begin with lethe_, are in base units (seconds, ratios of 1), and have a bounded set of
// label values, which are 0 from the start. A value outside its set is counted as "other", so that
// no event can increase the number of series. No label contains a transaction id, a pseudonym or a
// request id.
//
//	metrics.go, families.go              all metrics as one collector, and their names
//	records.go, timesteps.go, models.go  incoming records, graphs, models and predictions
//	erasures.go, success.go              erasure requests; the last success of each stage
//	health.go, handler.go                health checks and /metrics
//	options.go                           the settings of the metrics
package metrics
