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

// posteriors returns P(illicit) of every node of a graph, by each shard's model
// and combined as it is served.
func (e *ensemble) posteriors(ctx context.Context, s *lethe.Snapshot) (shards [][]float32, served []float32, err error) {
	weights, err := e.weights(s)
	if err != nil {
		return nil, nil, err
	}
	shards = make([][]float32, len(e.models))
	in := trainer.InputOf(s)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for shard, m := range e.models {
		g.Go(func() (err error) {
			shards[shard], err = e.engine.Predict(ctx, m, in)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, nil, fmt.Errorf("timestep %d: %w", s.Timestep, err)
	}
	return shards, scoring.Combine(shards, weights), nil
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

// answer is what the models say of one transaction: P(illicit) as it is served,
// and by each shard.
type answer struct {
	served float64
	shards []float64
}

// answers are those on the graphs of a stream, by transaction.
type answers map[lethe.TransactionID]answer

// ask queries every graph.
func (e *ensemble) ask(ctx context.Context, graphs []*lethe.Snapshot) (answers, error) {
	out := make(answers)
	for _, s := range graphs {
		shards, served, err := e.posteriors(ctx, s)
		if err != nil {
			return nil, err
		}
		for i, n := range s.Nodes {
			a := answer{served: float64(served[i]), shards: make([]float64, len(shards))}
			for shard, p := range shards {
				a.shards[shard] = float64(p[i])
			}
			out[n.ID] = a
		}
	}
	return out, nil
}

// posterior is the served vector (P(licit), P(illicit)) of a transaction.
func (a answers) posterior(id lethe.TransactionID) []float64 {
	return []float64{1 - a[id].served, a[id].served}
}

// askTargets queries the targets of a world: the members on the graph without
// the outsiders, which is the one that was sent, and the outsiders on the graph
// without the members. Each kind so misses the other one's payments, and if the
// models know neither, nothing tells the two apart.
func (e *ensemble) askTargets(ctx context.Context, secret lethe.Secret, w *world) (answers, error) {
	out, err := e.ask(ctx, graphs(secret, without(w.stream, w.outside), nil))
	if err != nil {
		return nil, err
	}
	others, err := e.ask(ctx, graphs(secret, without(w.stream, w.inside()), nil))
	if err != nil {
		return nil, err
	}
	for id := range w.outside {
		out[id] = others[id]
	}
	return out, nil
}
