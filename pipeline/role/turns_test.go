package role

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/ingest"
	"lethe/ingest/bus"
)

// saying is work that writes to three topics and notes how far it came.
func saying(turns *Turns, came *[]bus.Topic) func() error {
	return func() error {
		for _, topic := range []bus.Topic{bus.Slices, bus.Models, bus.Predictions} {
			if err := turns.Write(context.Background(), topic, []ingest.Outgoing{{Key: []byte(topic)}}); err != nil {
				return err
			}
			*came = append(*came, topic)
		}
		return nil
	}
}

// Work goes on behind what it publishes only when that was noted.
func TestWorkPausesWhereItPublishes(t *testing.T) {
	var turns Turns
	var came []bus.Topic
	work := saying(&turns, &came)
	for i, topic := range []bus.Topic{bus.Slices, bus.Models, bus.Predictions} {
		out, err := turns.Step(work)
		require.NoError(t, err)
		require.Equal(t, topic, out.Topic)
		require.False(t, out.Idle)
		require.Len(t, came, i, "it is not noted yet")
		require.NoError(t, out.Note())
	}
	out, err := turns.Step(work)
	require.NoError(t, err)
	require.True(t, out.Idle)
	require.Len(t, came, 3)

	out, err = turns.Step(work)
	require.NoError(t, err)
	require.Equal(t, bus.Slices, out.Topic, "the next work begins")
	turns.Close()
	require.Len(t, came, 3, "what was not published is not gone on from")
	turns.Close()
}

// What was not published fails the work, also if somebody goes on with it.
func TestWorkFailsUnlessItIsPublished(t *testing.T) {
	var turns Turns
	var came []bus.Topic
	work := saying(&turns, &came)
	_, err := turns.Step(work)
	require.NoError(t, err)
	_, err = turns.Step(work)
	require.ErrorIs(t, err, errUnpublished)
	require.Empty(t, came)

	broken := errors.New("broken")
	_, err = turns.Step(func() error { return broken })
	require.ErrorIs(t, err, broken)
}
