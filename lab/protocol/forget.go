package protocol

import (
	"context"
	"fmt"

	"lethe"
	"lethe/lab/aggregation"
	"lethe/partition/graph"
	"lethe/partition/repair"
	"lethe/trainer"
)

// Request asks to forget a batch of training nodes, drawn by the seed.
type Request struct {
	Batch int
	// Scope is lethe.ScopeShard, the paper's reach, or lethe.ScopeStubs.
	Scope lethe.Scope
}

// Forgot is what forgetting took.
type Forgot struct {
	// Shards is how many shards were trained anew.
	Shards int `json:"shards"`
	// TrainSeconds is the processor time of cutting and training them,
	// AggregateSeconds that of bringing the aggregation up to date.
	TrainSeconds     float64 `json:"train_cpu_seconds"`
	AggregateSeconds float64 `json:"aggregate_cpu_seconds"`
}

// Forget erases a batch of nodes from a trained ensemble: it cuts the touched
// shards again from the graph without them, trains these from fresh weights and
// updates the aggregation, which is the first one that the settings list.
func Forget(ctx context.Context, g *Graph, s Settings, req Request, r Runtime) (*Forgot, error) {
	t, err := newGraphRun(g, s, r)
	if err != nil {
		return nil, err
	}
	if err := t.check(req); err != nil {
		return nil, err
	}
	out := &Outcome{}
	if err := t.cut(ctx, out); err != nil {
		return nil, err
	}
	// Only learned weights ask the shards that stay.
	if t.s.Aggregate[0] == AggregateLearned {
		if err := t.trainOnce(ctx, out); err != nil {
			return nil, err
		}
	} else if t.models, err = newShardModels(t.s, g.Classes, 1, trainer.Window, r); err != nil {
		return nil, err
	}
	return t.forget(ctx, req)
}

// check says whether a batch can be forgotten.
func (t *graphRun) check(req Request) error {
	if n := len(t.split.Train); req.Batch < 1 || req.Batch >= n {
		return fmt.Errorf("batch is %d, want 1 to %d", req.Batch, n-1)
	}
	if req.Scope != lethe.ScopeShard && req.Scope != lethe.ScopeStubs {
		return fmt.Errorf("scope is %q, want %s or %s", req.Scope, lethe.ScopeShard, lethe.ScopeStubs)
	}
	return nil
}

// forget does what is timed.
func (t *graphRun) forget(ctx context.Context, req Request) (*Forgot, error) {
	victims := t.victims(req.Batch)
	touched := t.touched(victims, req.Scope)
	gone := make(map[lethe.Pseudonym]bool, len(victims))
	var rest graph.Assignment
	for i, n := range t.graph.Nodes {
		if victims[i] {
			gone[n.Pseudonym] = true
		} else {
			rest = append(rest, t.assignment[i])
		}
	}
	out := &Forgot{}
	used := t.r.Used
	started := used()
	graph := t.graph.Without(func(p lethe.Pseudonym) bool { return gone[p] })
	windows := make([][]*lethe.Slice, t.s.Shards)
	for shard, anew := range touched {
		if !anew {
			continue
		}
		slice, err := repair.OneSlice(graph, lethe.NoTimestep, rest, t.s.Shards, lethe.ShardID(shard), t.s.repairConfig())
		if err != nil {
			return nil, err
		}
		slice = t.shareTest(slice)
		out.Shards++
		t.models.models[shard] = nil
		t.slices[shard], windows[shard] = slice, []*lethe.Slice{slice}
	}
	if err := t.models.train(ctx, windows); err != nil {
		return nil, err
	}
	trained := used()
	out.TrainSeconds = (trained - started).Seconds()
	t.graph = graph
	if err := t.refresh(ctx, touched); err != nil {
		return nil, err
	}
	out.AggregateSeconds = (used() - trained).Seconds()
	return out, nil
}

// victims draws the nodes to forget, by position in the training graph.
func (t *graphRun) victims(batch int) map[int]bool {
	out := make(map[int]bool, batch)
	draw := lethe.NewDraw(t.s.Seed, "evaluation-erasure")
	for len(out) < batch {
		out[draw.IntN(len(t.graph.Nodes))] = true
	}
	return out
}

// touched tells for every shard whether it has to be trained again.
func (t *graphRun) touched(victims map[int]bool, scope lethe.Scope) []bool {
	out := make([]bool, t.s.Shards)
	for v := range victims {
		out[t.assignment[v]] = true
	}
	if scope == lethe.ScopeStubs && t.s.Repair != repair.None {
		for _, e := range t.graph.Undirected() {
			if victims[int(e.A)] || victims[int(e.B)] {
				out[t.assignment[e.A]], out[t.assignment[e.B]] = true, true
			}
		}
	}
	return out
}

// refresh brings the aggregation up to date: similarity describes the touched
// shards again, learned weights are fitted from the beginning, the mean needs
// nothing.
func (t *graphRun) refresh(ctx context.Context, touched []bool) error {
	switch t.s.Aggregate[0] {
	case AggregateSimilarity:
		for shard, anew := range touched {
			if !anew {
				continue
			}
			if _, err := aggregation.Describe(t.slices[shard]); err != nil {
				return fmt.Errorf("aggregation vector of shard %d: %w", shard, err)
			}
		}
	case AggregateLearned:
		rows, err := t.labelled(ctx)
		if err != nil {
			return err
		}
		_, err = aggregation.LearnWeights(rows.Posteriors, rows.Classes, rows.Labels, aggregation.DefaultLearning(rows.Seed))
		return err
	}
	return nil
}
