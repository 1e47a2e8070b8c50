package service

import (
	"context"
	"log/slog"

	"lethe/deletions/search"
	"lethe/ingest/bus"
	"lethe/ingest/embedded"
	"lethe/metrics/events"
)

// debugged logs timesteps that close and settle, and ensembles that are served.
func debugged(log *slog.Logger) events.Listener {
	return events.Tee(
		events.On(func(e events.SnapshotChanged) {
			log.Debug("timestep is "+e.State.String(), "timestep", e.Timestep, "took", e.Duration)
		}),
		events.On(func(e events.EnsembleSwapped) {
			log.Debug("ensemble is served", "timestep", e.Timestep, "version", e.Version.String())
		}),
	)
}

// embeddedLog reads topics from the files of the embedded broker.
type embeddedLog struct {
	broker *embedded.Broker
	// name returns the full name of a topic.
	name func(bus.Topic) string
}

var _ search.Log = embeddedLog{}

// EachSegment implements search.Log.
func (l embeddedLog) EachSegment(ctx context.Context, topic bus.Topic, fn func(search.Segment) error) error {
	return l.broker.EachSegment(ctx, l.name(topic), func(s *embedded.Segment) error {
		return fn(search.Segment{
			Path: s.Path, Info: s.Info, Data: s.Data, Compressed: s.Compressed(), Records: s.Records,
		})
	})
}
