package attack

import (
	"context"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"lethe"
	"lethe/configs"
	"lethe/scoring"
	"lethe/trainer"
)

// ensemble answers queries with published models, as the score role does.
type ensemble struct {
	engine *trainer.Engine
	config configs.Scoring
	models []*trainer.Checkpoint
}

// posteriors returns P(illicit) of every node of a graph.
func (e *ensemble) posteriors(ctx context.Context, s *lethe.Snapshot) ([]float32, error) {
	weights, err := e.weights(s)
	if err != nil {
		return nil, err
	}
	answers := make([][]float32, len(e.models))
	in := trainer.InputOf(s)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for shard, m := range e.models {
		g.Go(func() (err error) {
			answers[shard], err = e.engine.Predict(ctx, m, in)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, fmt.Errorf("timestep %d: %w", s.Timestep, err)
	}
	return scoring.Combine(answers, weights), nil
}

func (e *ensemble) weights(s *lethe.Snapshot) ([]float64, error) {
	portraits := make([]*scoring.Histogram, len(e.models))
	method := scoring.Method(e.config.Aggregation)
	if method != scoring.MethodSimilarity {
		return scoring.Weights(method, nil, portraits, 0)
	}
	for shard, m := range e.models {
		portraits[shard] = &scoring.Histogram{}
		if err := portraits[shard].UnmarshalBinary(m.Aggregation); err != nil {
			return nil, fmt.Errorf("aggregation vector of shard %d: %w", shard, err)
		}
	}
	test, err := scoring.HistogramOf(len(s.Nodes), s.Undirected(), scoring.PyramidOptions{})
	if err != nil {
		return nil, fmt.Errorf("aggregation vector of timestep %d: %w", s.Timestep, err)
	}
	return scoring.Weights(method, test, portraits, e.config.Temperature)
}

// answers are the posteriors on the graphs of a stream, by transaction.
type answers map[lethe.TransactionID]float64

// ask queries every graph.
func (e *ensemble) ask(ctx context.Context, graphs []*lethe.Snapshot) (answers, error) {
	out := make(answers)
	for _, s := range graphs {
		p, err := e.posteriors(ctx, s)
		if err != nil {
			return nil, err
		}
		for i, n := range s.Nodes {
			out[n.ID] = float64(p[i])
		}
	}
	return out, nil
}

// posterior is the vector (P(licit), P(illicit)) of a transaction.
func (a answers) posterior(id lethe.TransactionID) []float64 { return []float64{1 - a[id], a[id]} }
