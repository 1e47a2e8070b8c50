package share_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/metrics/events"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/score/share"
)

// What lethe did not write on answers.v1 is counted, as on its other topics.
func TestJunkIsCounted(t *testing.T) {
	topics := roletest.NewBus(nil)
	require.NoError(t, topics.Write(t.Context(), bus.Answers, []ingest.Outgoing{{Key: []byte("a"), Value: []byte("b")}}))
	missed := make(chan events.RecordsMissed, 1)
	listener := events.Listener{RecordsMissed: func(e events.RecordsMissed) { missed <- e }}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	around := role.Around(topics, listener, slog.New(slog.DiscardHandler))
	go func() { ended <- share.Run(ctx, share.NewBoard(true), nil, around) }()
	select {
	case e := <-missed:
		require.Equal(t, events.RecordsMissed{
			Topic: string(bus.Answers), To: 1, Reason: string(ingest.Unparseable),
		}, e)
	case <-time.After(time.Minute):
		require.Fail(t, "nothing is counted")
	}
	stop()
	require.NoError(t, <-ended)
}
