package role_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
)

// inputs is a logic that passes on what it is given.
type inputs struct {
	echo
	given chan role.Input
}

func (i *inputs) Step(ctx context.Context, _ func() time.Time, in role.Input) (role.Output, error) {
	select {
	case i.given <- in:
	case <-ctx.Done():
	}
	return role.Output{Idle: true}, nil
}

// A role steps when it is woken and when time has passed, without a batch, and
// misses no batch for it.
func TestARoleIsWoken(t *testing.T) {
	topics, wake := roletest.NewBus(nil), make(chan struct{})
	logic := &inputs{given: make(chan role.Input)}
	around := role.Around(topics, nil, slog.New(slog.DiscardHandler))
	around.Wake = wake
	stop := start(t, role.Follow("inputs", logic, around))
	require.Equal(t, role.Input{}, <-logic.given, "before anything is read")
	for range 2 {
		require.Empty(t, (<-logic.given).Batch.Records, "control.v1 and the journal begin where they end")
	}
	for range 3 {
		wake <- struct{}{}
		require.Equal(t, role.Input{}, <-logic.given)
	}
	require.NoError(t, stop())

	around.Wake, around.Tick = nil, time.Microsecond
	stop = start(t, role.Follow("inputs", logic, around))
	const count = 20
	for at := range lethe.Timestep(count) {
		require.NoError(t, wire.Publish(t.Context(), topics, 1, slice(at+1)))
	}
	ticks, messages := 0, 0
	for ticks == 0 || messages < count {
		in := <-logic.given
		messages += len(in.Messages)
		if in.Ticked {
			ticks++
		}
		require.Contains(t, []bus.Topic{"", bus.Slices, bus.Control}, in.Batch.Source.Topic)
	}
	require.NoError(t, stop())
}
