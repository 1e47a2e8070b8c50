package service

import (
	"context"

	"lethe/deletions/coordinator"
	"lethe/ingest/bus"
	"lethe/ingest/embedded"
)

// embeddedLog reads topics in the files of the embedded broker.
type embeddedLog struct {
	broker *embedded.Broker
	// name is that of a topic with its prefix.
	name func(bus.Topic) string
}

var _ coordinator.Log = embeddedLog{}

// EachSegment implements coordinator.Log.
func (l embeddedLog) EachSegment(
	ctx context.Context, topic bus.Topic, fn func(coordinator.Segment) error,
) error {
	return l.broker.EachSegment(ctx, l.name(topic), func(s *embedded.Segment) error {
		return fn(coordinator.Segment{
			Path: s.Path, Info: s.Info, Data: s.Data, Compressed: s.Compressed(), Records: s.Records,
		})
	})
}
