package protocol

import (
	"context"
	"fmt"

	"lethe"
	"lethe/dataset"
)

// PartitionGraph cuts the training graph and trains nothing.
func PartitionGraph(ctx context.Context, g *Graph, s Settings, r Runtime) (*Outcome, error) {
	t, err := newGraphRun(g, s, r)
	if err != nil {
		return nil, err
	}
	out := &Outcome{}
	return out, t.assign(ctx, out)
}

// PartitionStream cuts every timestep of a stream and trains nothing. The scores
// are means over the timesteps, the seconds a sum.
func PartitionStream(ctx context.Context, stream *dataset.Stream, s Settings, r Runtime) (*Outcome, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("settings: %w", err)
	}
	out := &Outcome{}
	shapes := make([]Shape, len(stream.Steps))
	now := r.Now
	for i := range stream.Steps {
		snap := SnapshotOf(lethe.Secret{}, &stream.Steps[i], stream.FeatureCount)
		started := now()
		var err error
		if _, shapes[i], err = s.assign(ctx, snap, classesOfStream, nil); err != nil {
			return nil, err
		}
		out.PartitionSeconds += now().Sub(started).Seconds()
	}
	out.Shape = meanShape(shapes)
	return out, nil
}
