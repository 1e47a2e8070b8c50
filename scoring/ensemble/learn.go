package ensemble

import (
	"context"
	"fmt"

	"lethe"
	"lethe/scoring/meta"
	"lethe/scoring/stack"
	"lethe/trainer"
	"lethe/trainer/group"
)

// Learn learns the meta-model over models that were trained through a timestep, from
// the labelled nodes of the last timesteps up to it. window has, oldest first, the
// slices of every shard of a timestep. Of each node every component says the mean logit
// of its groups that do not hold it (out-of-group predictions): none of them has learnt
// from the node. Models look at a node as it stands in its slice.
//
// known, if not nil, has what was said the last time, and gets what is said now.
//
// The lineage of the result is the caller's to set. Errors are those of Probabilities
// and meta.Fit. If a component has a single group nothing is learnt: the meta-model
// is the mean of the components.
func (r Runner) Learn(
	ctx context.Context, c meta.Config, models []*trainer.Checkpoint, window [][]*lethe.Slice, known *Known,
) (*meta.Model, error) {
	var sources []*lethe.Slice
	for _, slices := range window {
		if r.crossed() {
			sources = append(sources, slices...)
		}
	}
	parts, answers := make([]stack.Rows, len(sources)), make([]answersOf, len(sources))
	err := r.Each(ctx, len(sources), func(ctx context.Context, i int) (err error) {
		answers[i] = known.of(sources[i])
		parts[i], err = r.outOfGroup(ctx, models, sources[i], answers[i])
		return err
	})
	if err != nil {
		return nil, err
	}
	known.replace(answers)
	all := stack.Rows{Components: len(r.Layout.Components)}
	for _, p := range parts {
		all.Logits, all.Illicit = append(all.Logits, p.Logits...), append(all.Illicit, p.Illicit...)
	}
	m, err := meta.Fit(all, c)
	if err != nil {
		return nil, err
	}
	m.Timestep = models[0].Timestep
	return m, nil
}

// crossed reports whether every component has a group that does not hold a node. Else
// there is nothing to learn from.
func (r Runner) crossed() bool {
	for _, c := range r.Layout.Components {
		if c.Groups < 2 {
			return false
		}
	}
	return true
}

// outOfGroup returns what the components say of the labelled nodes of a slice.
func (r Runner) outOfGroup(
	ctx context.Context, models []*trainer.Checkpoint, s *lethe.Slice, known answersOf,
) (stack.Rows, error) {
	rows := stack.Rows{Components: len(r.Layout.Components)}
	var labelled []int
	for node, label := range s.Labels {
		if label == lethe.Licit || label == lethe.Illicit {
			labelled = append(labelled, node)
			rows.Illicit = append(rows.Illicit, label == lethe.Illicit)
		}
	}
	if len(labelled) == 0 {
		return rows, nil
	}
	rows.Logits = make([]float64, len(labelled)*rows.Components)
	whole, alone := trainer.InputOfSlice(s), trainer.InputOfNodes(s, labelled)
	first := 0
	for k, c := range r.Layout.Components {
		graph := whole
		if c.Config.LooksAtRows() {
			graph = alone
		}
		holder := group.Of(s.Shard, c.Groups, r.Layout.Shards)
		var said [][]float64
		for in := range c.Groups {
			if in == holder {
				continue
			}
			answers, err := known.ask(lethe.ShardID(first+in), models[first+in], func() ([]float64, error) {
				posteriors, err := r.Engines[k].Probabilities(ctx, models[first+in], graph)
				if err != nil || c.Config.LooksAtRows() {
					return Illicit(posteriors), err
				}
				return among(Illicit(posteriors), labelled), nil
			})
			if err != nil {
				return rows, fmt.Errorf("slice of timestep %d, shard %d: %w", s.Timestep, s.Shard, err)
			}
			said = append(said, answers)
		}
		for i, logit := range stack.MeanLogits(said) {
			rows.Logits[i*rows.Components+k] = logit
		}
		first += c.Groups
	}
	return rows, nil
}

// among returns the answers about some nodes.
func among(answers []float64, nodes []int) []float64 {
	out := make([]float64, len(nodes))
	for i, node := range nodes {
		out[i] = answers[node]
	}
	return out
}

// Logits returns, by component, the mean logit of illicit of its groups for every
// node.
func (a *Answers) Logits(l Layout) [][]float64 {
	out := make([][]float64, len(l.Components))
	first := 0
	for k, c := range l.Components {
		said := make([][]float64, c.Groups)
		for in := range said {
			said[in] = Illicit(a.Shards[first+in])
		}
		out[k] = stack.MeanLogits(said)
		first += c.Groups
	}
	return out
}
