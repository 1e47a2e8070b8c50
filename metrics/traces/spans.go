package traces

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"lethe"
	"lethe/metrics/events"
)

// Listener returns the functions that turn events into spans.
func (t *Tracer) Listener() events.Listener {
	return events.Tee(
		events.On(t.snapshotChanged),
		events.On(func(e events.SnapshotPartitioned) {
			t.span(t.of(e.Timestep), "partition", e.Duration, step(e.Timestep),
				attribute.Float64("lethe.balance", e.Balance), attribute.Float64("lethe.fairness", e.Fairness),
				attribute.Float64("lethe.edge_cut", e.EdgeCut))
		}),
		events.On(func(e events.ShardTrained) {
			t.span(t.of(e.Timestep), "train "+e.Model, e.Duration, step(e.Timestep),
				attribute.String("lethe.reason", string(e.Reason)), attribute.Int("lethe.steps", e.Steps))
		}),
		events.On(func(e events.EnsembleSwapped) {
			t.span(t.of(e.Timestep), "serve ensemble", 0, step(e.Timestep),
				attribute.String("lethe.ensemble", e.Version.String()))
		}),
		events.On(func(e events.SnapshotScored) {
			t.span(t.of(e.Timestep), "score", e.Duration, step(e.Timestep),
				attribute.Int("lethe.predictions", len(e.Illicit)), attribute.Int("lethe.alerts", e.IllicitCount))
		}),
		events.On(t.transactionPassed),
		events.On(t.erasureChanged),
		events.On(func(e events.ErasurePhaseDone) {
			ctx := beneath(e.Trace)
			if e.Phase == events.Whole {
				ctx = asRoot(e.Trace)
			}
			t.span(ctx, "erasure: "+string(e.Phase), e.Duration)
		}),
		events.On(func(e events.ErasureAnswered) {
			t.span(beneath(e.Trace), e.Role+" has "+e.Step, e.Duration,
				attribute.String("lethe.role", e.Role), attribute.String("lethe.instance", e.Instance))
		}),
	)
}

// snapshotChanged starts the trace of a timestep with its first record.
func (t *Tracer) snapshotChanged(e events.SnapshotChanged) {
	ctx, name := t.of(e.Timestep), "timestep is "+e.State.String()
	if e.State == lethe.Open {
		ctx = asRoot(events.TraceOfTimestep(t.secret, e.Timestep))
	}
	t.span(ctx, name, e.Duration, step(e.Timestep))
}

// erasureChanged sends the root span of a request that ends without being carried out; for one that is
// carried out, the phase Whole is the root span.
func (t *Tracer) erasureChanged(e events.ErasureChanged) {
	ctx, took := beneath(e.Trace), time.Duration(0)
	if e.State == "rejected" || e.State == "cancelled" {
		ctx, took = asRoot(e.Trace), e.Elapsed
	}
	t.span(ctx, "erasure is "+e.State, took)
}

// transactionPassed starts the trace of a transaction with its record, and links it to its timestep's
// trace.
func (t *Tracer) transactionPassed(e events.TransactionPassed) {
	ctx := beneath(e.Trace)
	if e.Stage == events.Taken {
		ctx = asRoot(e.Trace)
	}
	end := t.now()
	_, span := t.tracer.Start(ctx, "transaction "+string(e.Stage), trace.WithTimestamp(end.Add(-e.Duration)),
		trace.WithAttributes(step(e.Timestep)),
		trace.WithLinks(trace.Link{SpanContext: first(events.TraceOfTimestep(t.secret, e.Timestep))}))
	span.End(trace.WithTimestamp(end))
}

// of returns a context in which spans belong to a timestep.
func (t *Tracer) of(at lethe.Timestep) context.Context {
	return beneath(events.TraceOfTimestep(t.secret, at))
}

// span sends a span of work that has just ended.
func (t *Tracer) span(ctx context.Context, name string, took time.Duration, about ...attribute.KeyValue) {
	end := t.now()
	_, span := t.tracer.Start(ctx, name, trace.WithTimestamp(end.Add(-took)), trace.WithAttributes(about...))
	span.End(trace.WithTimestamp(end))
}

func step(t lethe.Timestep) attribute.KeyValue { return attribute.Int64("lethe.timestep", int64(t)) }
