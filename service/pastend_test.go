package service

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/ingest/bus"
	"lethe/metrics"
	"lethe/metrics/events"
)

// A position past the end of a partition is a fault of the topic, which only an operator mends: brokers serve the
// partition, so that none of them is waited for.
func TestAPositionPastTheEndIsAFaultOfTheTopic(t *testing.T) {
	o := newOutages(metrics.NewHealth(), events.Listener{}, slog.New(slog.DiscardHandler))
	o.watch("labels.v1/1", bus.ErrUnknownTopic)
	o.watch("labels.v1/1", bus.PastEnd(0))
	o.watch("labels.v1/1", bus.ErrAbandoned)
	places, topics, _ := o.facts()
	require.Empty(t, places)
	require.Equal(t, []string{"labels.v1/1: " + bus.PastEnd(0).Error()}, topics)
}
