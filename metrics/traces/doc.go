// Package traces turns events into spans and sends them to an OpenTelemetry collector (OTLP over HTTP). It is
// the only package that knows OpenTelemetry; the others are given an events.Listener, as with metrics.
//
// There are three kinds of traces: that of an erasure, from its receipt to its end; that of a timestep, from
// its close to its predictions; that of a transaction, for a share of them. A trace is named by a keyed hash
// (events.Trace), so that every process of a deployment adds to the same trace without a header that travels
// with records: state on disk and records keep no trace, and bytes do not depend on whether somebody looks.
// The latter half of its name is the id of its first span, under which all others hang.
//
// No span carries an id, a pseudonym or a request id. Spans wait in memory and are dropped, and counted, where
// the collector is slow or away: nothing that lethe does waits for them.
//
//	tracer.go    begins and ends
//	spans.go     the span of each event
//	ids.go       ids of traces and spans
//	outgoing.go  what is said of a collector that does not answer
package traces
