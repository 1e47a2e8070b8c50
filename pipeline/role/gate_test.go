package role

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/ingest/bus"
)

// lastTail has nothing, and its reader stopped once that has waited.
type lastTail struct{ stop func() }

func (l lastTail) Next(ctx context.Context) (bus.Batch, error) {
	<-ctx.Done()
	l.stop()
	return bus.Batch{}, ctx.Err()
}

func (lastTail) Close() error { return nil }

// A process that stands by may be stopped at the moment at which it is to ask how far the leader is.
// That is no error of its own, which would end the service.
func TestAGateThatIsStoppedSaysSo(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	g := newGate(lastTail{stop}, &Lead{now: time.Now}, map[bus.TopicPartition]int64{}, nil)
	g.waiting, g.asked = []bus.Batch{{Source: bus.TopicPartition{Topic: bus.Slices}, Next: 1}}, time.Now()
	_, err := g.Next(ctx)
	require.ErrorIs(t, err, context.Canceled)
}
