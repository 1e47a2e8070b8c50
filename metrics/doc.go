// Package metrics turns events into Prometheus metrics and tracks the health of the process. It is
// the only package that depends on Prometheus, as metrics/traces is the only one that depends on
// OpenTelemetry; the others receive an events.Listener.
//
// All names begin with lethe_, are in base units (seconds, ratios of 1), and have a bounded set of
// label values, which are 0 from the start. A value outside its set is counted as "other", so that
// no event can increase the number of series. No label contains a transaction id, a pseudonym or a
// request id.
//
//	metrics.go, families.go  the list of metrics; how one is made
//	records.go               incoming records, brokers, disks and waits, webhooks
//	timesteps.go             graphs, and the last success of each stage
//	models.go                models, predictions and their quality
//	erasures.go              erasure requests
//	health.go, handler.go    health checks and /metrics
package metrics
