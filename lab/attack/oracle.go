package attack

import (
	"context"
	"fmt"
	"runtime"

	"lethe"
	"lethe/scoring"
	"lethe/scoring/ensemble"
	"lethe/trainer"
)

// oracle answers queries with published models, as the score role does.
type oracle struct {
	runner ensemble.Runner
	models []*trainer.Checkpoint
}

// newOracle asks the models with an engine.
func newOracle(engine *trainer.Engine, models []*trainer.Checkpoint) *oracle {
	runner := ensemble.Runner{Engines: []*trainer.Engine{engine}, Workers: runtime.GOMAXPROCS(0)}
	return &oracle{runner: runner, models: models}
}

// posteriors returns P(illicit) of every node of a graph, by each shard's model
// and combined as it is served.
func (o *oracle) posteriors(ctx context.Context, s *lethe.Snapshot) (shards [][]float64, served []float64, err error) {
	said, err := o.runner.Ask(ctx, o.models, trainer.InputOf(s))
	if err != nil {
		return nil, nil, fmt.Errorf("timestep %d: %w", s.Timestep, err)
	}
	for _, rows := range said.Shards {
		shards = append(shards, ensemble.Illicit(rows))
	}
	return shards, ensemble.Illicit(scoring.Mean(said.Shards)), nil
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
func (o *oracle) ask(ctx context.Context, graphs []*lethe.Snapshot) (answers, error) {
	out := make(answers)
	for _, s := range graphs {
		shards, served, err := o.posteriors(ctx, s)
		if err != nil {
			return nil, err
		}
		for i, n := range s.Nodes {
			a := answer{served: served[i], shards: make([]float64, len(shards))}
			for shard, p := range shards {
				a.shards[shard] = p[i]
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

// askTargets queries the targets of a scenario: the members on the graph without
// the outsiders, which is the one that was sent, and the outsiders on the graph
// without the members. Each kind so misses the other one's payments, and if the
// models know neither, nothing tells the two apart.
func (o *oracle) askTargets(ctx context.Context, secret lethe.Secret, sc *scenario) (answers, error) {
	out, err := o.ask(ctx, graphs(secret, without(sc.stream, sc.outside), nil))
	if err != nil {
		return nil, err
	}
	others, err := o.ask(ctx, graphs(secret, without(sc.stream, sc.inside()), nil))
	if err != nil {
		return nil, err
	}
	for id := range sc.outside {
		out[id] = others[id]
	}
	return out, nil
}
