package traces

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"lethe"
)

// tracesPath is the path of a collector's endpoint for spans.
const tracesPath = "v1/traces"

// closingTimeout bounds the sending of the last spans.
const closingTimeout = 2 * time.Second

// Options configures the export of traces.
type Options struct {
	// Endpoint is the collector's address, such as http://collector:4318. Headers, certificates and
	// timeouts come from the standard OTEL_EXPORTER_OTLP_ variables of the environment.
	Endpoint string
	// Secret is the key of trace ids.
	Secret lethe.Secret
	// Version and Instance describe the process.
	Version, Instance string
	// Random is the source of span ids.
	Random rand.Source
	Now    func() time.Time
	Logger *slog.Logger
}

// Tracer sends spans.
type Tracer struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	secret   lethe.Secret
	now      func() time.Time
}

// Start returns a tracer. It does not connect before there is something to send. The error means that the
// endpoint is not an address.
func Start(ctx context.Context, o Options) (*Tracer, error) {
	address, err := url.JoinPath(o.Endpoint, tracesPath)
	if err != nil {
		return nil, fmt.Errorf("traces.endpoint: %w", err)
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(address))
	if err != nil {
		return nil, fmt.Errorf("traces.endpoint: %w", err)
	}
	about := resource.NewSchemaless(
		attribute.String("service.name", "lethe"), attribute.String("service.version", o.Version),
		attribute.String("service.instance.id", o.Instance),
	)
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(&outgoing{SpanExporter: exporter, log: o.Logger}),
		sdktrace.WithIDGenerator(&ids{draw: rand.New(o.Random)}), sdktrace.WithResource(about),
	)
	return &Tracer{provider: provider, tracer: provider.Tracer("lethe"), secret: o.Secret, now: o.Now}, nil
}

// Close sends the buffered spans, within a short time.
func (t *Tracer) Close() error {
	ctx, stop := context.WithTimeout(context.Background(), closingTimeout)
	defer stop()
	return t.provider.Shutdown(ctx)
}
