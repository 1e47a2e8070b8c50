package published

import (
	"context"
	"fmt"
	"math"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/scoring"
	"lethe/scoring/reasons"
)

// Reader reads a topic from its start to its present end.
type Reader interface {
	ReadAll(ctx context.Context, t bus.Topic, fn func(ingest.Record) error) error
}

// Recover reads the final predictions of the timesteps that are wanted from predictions.v1.
func Recover(
	ctx context.Context, topics Reader, secret lethe.Secret, wanted func(lethe.Timestep) bool,
) (map[lethe.Timestep]*Step, error) {
	final, err := newest(ctx, topics, bus.Predictions, func(value []byte) (*scoring.Prediction, bool) {
		p, err := scoring.DecodePrediction(value)
		return p, err == nil && p.Final && wanted(p.Timestep)
	})
	if err != nil {
		return nil, fmt.Errorf("read final predictions: %w", err)
	}
	out := make(map[lethe.Timestep]*Step)
	for _, p := range final {
		at, node := out[p.Timestep], secret.Pseudonym(p.Transaction)
		if at == nil {
			at = &Step{Threshold: math.NaN()}
			out[p.Timestep] = at
		}
		if p.Late {
			at.Late = append(at.Late, node)
			continue
		}
		at.Threshold, at.Scores = p.Threshold, append(at.Scores, Score{node, p.Probability})
	}
	for _, p := range out {
		p.sort()
	}
	return out, nil
}

// Explained reads which transactions have reasons on reasons.v1, by timestep.
func Explained(
	ctx context.Context, topics Reader, secret lethe.Secret,
) (map[lethe.Timestep][]lethe.Pseudonym, error) {
	explained, err := newest(ctx, topics, bus.Reasons, func(value []byte) (lethe.Timestep, bool) {
		r, err := reasons.Decode(value)
		if err != nil {
			return lethe.NoTimestep, false
		}
		return r.Timestep, true
	})
	if err != nil {
		return nil, fmt.Errorf("read reasons: %w", err)
	}
	out := make(map[lethe.Timestep][]lethe.Pseudonym)
	for id, t := range explained {
		out[t] = append(out[t], secret.Pseudonym(id))
	}
	return out, nil
}

// newest reads the newest record of each transaction, if decode accepts it: others are tombstones, or markers.
func newest[T any](
	ctx context.Context, topics Reader, topic bus.Topic, decode func(value []byte) (T, bool),
) (map[lethe.TransactionID]T, error) {
	out := make(map[lethe.TransactionID]T)
	err := topics.ReadAll(ctx, topic, func(rec ingest.Record) error {
		if rec.Unauthenticated != "" {
			return nil
		}
		id := lethe.TransactionID(rec.Key)
		delete(out, id)
		if content, accepted := decode(rec.Value); accepted {
			out[id] = content
		}
		return nil
	})
	return out, err
}
