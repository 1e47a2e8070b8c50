package protocol

import (
	"context"
	"fmt"
	"math"
	"slices"

	"lethe"
	"lethe/scoring/quality"
)

// Membership is how well nodes that were erased are told from as many that were never
// trained on: areas under the ROC curve, .5 for a guess. Everybody asks the graph of
// all nodes.
type Membership struct {
	// Distance is by how far the erasure moves a node's posteriors (Euclidean), which
	// the paper's program measures and who has both versions can.
	Distance float64 `json:"distance"`
	// Loss is by the loss on the erased nodes' labels after the erasure, and Control
	// the same before it, where the nodes are members. An attack that fails there
	// has no power.
	Loss    float64 `json:"loss"`
	Control float64 `json:"control"`
}

// Infer trains an ensemble, erases a batch of nodes as Forget does, and attacks it: the
// aggregation is the first one that the settings list.
func Infer(ctx context.Context, g *Graph, s Settings, req Request, r Runtime) (*Membership, error) {
	t, err := newGraphRun(g, s, r)
	if err != nil {
		return nil, err
	}
	if err := t.check(req); err != nil {
		return nil, err
	}
	if s.Transductive {
		return nil, fmt.Errorf("transductive training knows the test nodes, which are to be the ones it never saw")
	}
	if n := len(t.split.Test); req.Batch > n {
		return nil, fmt.Errorf("batch is %d, want at most the %d test nodes", req.Batch, n)
	}
	out := &Outcome{}
	if err := t.cut(ctx, out); err != nil {
		return nil, err
	}
	targets, member := t.targets(req.Batch)
	if err := t.trainOnce(ctx, out); err != nil {
		return nil, err
	}
	before, err := t.served(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := t.forget(ctx, req); err != nil {
		return nil, err
	}
	after, err := t.served(ctx)
	if err != nil {
		return nil, err
	}
	// The smaller the loss, the likelier a member.
	surer := func(posteriors []float32) func(node int) float64 {
		return func(node int) float64 { return float64(posteriors[node*g.Classes+g.Labels[node]]) }
	}
	m := &Membership{
		Control: area(targets, member, surer(before)), Loss: area(targets, member, surer(after)),
		Distance: area(targets, member, func(node int) float64 {
			sum := 0.0
			for c := node * g.Classes; c < (node+1)*g.Classes; c++ {
				d := float64(after[c]) - float64(before[c])
				sum += float64(d * d)
			}
			return math.Sqrt(sum)
		}),
	}
	return m, nil
}

// targets are the nodes that a batch erases, by row, and as many test nodes.
func (t *graphRun) targets(batch int) (nodes []int, member []bool) {
	victims := t.victims(batch)
	for i, n := range t.graph.Nodes {
		if victims[i] {
			nodes, member = append(nodes, rowOf(n.Pseudonym)), append(member, true)
		}
	}
	rest := slices.Clone(t.split.Test)
	draw := lethe.NewDraw(t.s.Seed, "evaluation-outsiders")
	for range batch {
		at := draw.IntN(len(rest))
		nodes, member = append(nodes, rest[at]), append(member, false)
		rest = slices.Delete(rest, at, at+1)
	}
	return nodes, member
}

// served is what the ensemble says of the graph of all nodes.
func (t *graphRun) served(ctx context.Context) ([]float32, error) {
	answers, err := t.models.ask(ctx, t.full)
	if err != nil {
		return nil, err
	}
	by, err := t.combiner(ctx, t.s.Aggregate[0])
	if err != nil {
		return nil, fmt.Errorf("aggregation %s: %w", t.s.Aggregate[0], err)
	}
	return by.Combine(answers.Shards, t.g.Classes, nil), nil
}

func area(nodes []int, member []bool, score func(node int) float64) float64 {
	scores := make([]float64, len(nodes))
	for i, node := range nodes {
		scores[i] = score(node)
	}
	auc, _ := quality.AUC(scores, member) // there are both kinds
	return auc
}
