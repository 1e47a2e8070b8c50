// Package metrics turns events into Prometheus metrics and keeps the health of
// the process. It is the only package that knows Prometheus; the others are
// given an events.Listener.
//
// All names begin with lethe_, are in base units (seconds, ratios of 1), and
// have a bounded set of label values, which stand at 0 from the start. A value
// outside its set is counted as "other", so that no event can grow the
// metrics. No label carries a transaction id, a pseudonym or a request id.
package metrics
