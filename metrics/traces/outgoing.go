package traces

import (
	"context"
	"log/slog"
	"sync/atomic"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// outgoing sends spans, and logs once that a collector does not accept them, and once that it does
// again.
type outgoing struct {
	sdktrace.SpanExporter
	log    *slog.Logger
	failed atomic.Bool
	lost   atomic.Int64
}

// ExportSpans implements sdktrace.SpanExporter. Spans that could not be sent are dropped.
func (o *outgoing) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := o.SpanExporter.ExportSpans(ctx, spans)
	switch {
	case err != nil:
		o.lost.Add(int64(len(spans)))
		if !o.failed.Swap(true) {
			o.log.Warn("traces are lost: the collector at traces.endpoint does not take them", "error", err)
		}
	case o.failed.Swap(false):
		o.log.Info("the collector at traces.endpoint takes traces again", "lost_spans", o.lost.Load())
	}
	return nil
}
