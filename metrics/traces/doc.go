// Package traces turns events into spans and sends them to an OpenTelemetry collector (OTLP over HTTP). It is
// the only package that depends on OpenTelemetry; the others receive an events.Listener, as with metrics.
//
// There are three kinds of traces: that of an erasure, from its receipt to its end; that of a timestep, from
// its close to its predictions; that of a transaction, for a share of them. The id of a trace is a keyed
// hash (events.Trace), so that every process of a deployment adds to the same trace without headers in
// records: neither stored state nor records contain trace ids, and their bytes do not depend on tracing. The
// second half of the id is the id of the root span, the parent of all others.
//
// No span contains a transaction id, a pseudonym or a request id. Spans are buffered in memory and are
// dropped, and counted, if the collector is slow or unreachable: lethe never waits for them.
//
//	tracer.go    start and end
//	spans.go     the span of each event
//	ids.go       ids of traces and spans
//	outgoing.go  logging of an unreachable collector
package traces
