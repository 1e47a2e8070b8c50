// Package metrics turns events into Prometheus metrics and keeps the health of
// the process. It is the only package that knows Prometheus, as metrics/traces is the one
// that knows OpenTelemetry; the others are given an events.Listener.
//
// All names begin with lethe_, are in base units (seconds, ratios of 1), and
// have a bounded set of label values, which stand at 0 from the start. A value
// outside its set is counted as "other", so that no event can grow the
// metrics. No label carries a transaction id, a pseudonym or a request id.
//
//	metrics.go, families.go              all metrics as one collector, and their names
//	records.go, timesteps.go, models.go  what comes in, graphs, models and predictions
//	erasures.go, success.go              requests to forget; when each stage last succeeded
//	health.go, handler.go                health checks and /metrics
//	options.go                           what the metrics must know of the process
package metrics
