package bus_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/ingest"
	"lethe/ingest/bus"
)

// One fetch is ahead of who reads, unless it holds more than was asked for: then the next waits until all is taken.
func TestOneFetchIsAhead(t *testing.T) {
	const most = 4
	upTo := func(next int64, bytes int) bus.Batch {
		return bus.Batch{Next: next, Records: []ingest.Record{{Value: make([]byte, bytes)}}}
	}
	over, cancel := context.WithCancel(t.Context())
	cancel() // what has to wait says so at once
	tail, deliver := bus.NewDelivery(most)
	require.NoError(t, deliver(over, upTo(1, most/2), upTo(2, most/2)))
	require.ErrorIs(t, deliver(over, upTo(3, most)), context.Canceled)
	for next := range int64(2) {
		batch, err := tail.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, next+1, batch.Next)
	}
	require.ErrorIs(t, deliver(over, upTo(4, most)), context.Canceled)
	for next := range int64(2) {
		batch, err := tail.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, next+3, batch.Next)
	}
	require.NoError(t, deliver(over, upTo(5, 1)))

	tail, deliver = bus.NewDelivery(most)
	require.ErrorIs(t, deliver(over, upTo(1, most), upTo(2, 1)), context.Canceled)
	working := make(chan error)
	go func() { working <- deliver(t.Context(), upTo(3, 2*most)) }()
	for next := range int64(3) {
		batch, err := tail.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, next+1, batch.Next)
	}
	require.NoError(t, <-working)
}
