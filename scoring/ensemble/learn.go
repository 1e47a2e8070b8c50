package ensemble

import (
	"context"
	"fmt"
	"slices"

	"lethe"
	"lethe/scoring/meta"
	"lethe/scoring/stack"
	"lethe/trainer"
	"lethe/trainer/group"
)

// Learn learns the meta-model over models that were trained through a timestep, from
// the labelled nodes of the slices of every shard of the last timesteps up to it. Of each
// node every component says the mean logit of its groups that do not hold it (out-of-group
// predictions): none of them has learnt from the node. Models look at a node as it stands in
// its slice.
//
// The result does not depend on what of the sources is known or heard.
//
// The lineage of the result is the caller's to set. Errors are those of Sources.Slice, Probabilities
// and meta.Fit. If a component has a single group nothing is learnt: the meta-model
// is the mean of the components.
func (r Runner) Learn(
	ctx context.Context, c meta.Config, models []*trainer.Checkpoint, sources Sources,
) (*meta.Model, error) {
	count := sources.Count
	if !r.crossed() {
		count = 0
	}
	parts, answers := make([]stack.Rows, count), make([]answersOf, count)
	err := r.Each(ctx, count, func(ctx context.Context, i int) error {
		s, err := sources.at(i, r.others())
		if err != nil {
			return err
		}
		answers[i] = s.answers
		parts[i], err = r.outOfGroup(ctx, models, s)
		return err
	})
	if err != nil {
		return nil, err
	}
	sources.Known.replace(answers)
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

// others is how many models are asked about a slice: of each component all but the one that holds it.
func (r Runner) others() int { return r.Layout.Models() - len(r.Layout.Components) }

// outOfGroup returns what the components say of the labelled nodes of a slice.
func (r Runner) outOfGroup(ctx context.Context, models []*trainer.Checkpoint, s source) (stack.Rows, error) {
	rows := stack.Rows{Components: len(r.Layout.Components)}
	if len(s.illicit) == 0 {
		return rows, nil
	}
	said, err := r.said(ctx, models, s)
	if err != nil {
		return rows, err
	}
	rows.Illicit = s.illicit
	rows.Logits = make([]float64, len(s.illicit)*rows.Components)
	for k, of := range said {
		for i, logit := range stack.MeanLogits(of) {
			rows.Logits[i*rows.Components+k] = logit
		}
	}
	return rows, nil
}

// Said asks the models about the labelled nodes of a slice that they have not learnt from, as Learn does: what
// others that Learn are told by Sources.Heard. Errors are those of trainer.Engine.Probabilities, with the slice.
func (r Runner) Said(ctx context.Context, models []*trainer.Checkpoint, slice *lethe.Slice) (*Said, error) {
	if !r.crossed() {
		return &Said{}, nil
	}
	s := sourceOf(slice)
	said, err := r.said(ctx, models, s)
	if err != nil {
		return nil, err
	}
	out := &Said{Illicit: s.illicit, Probabilities: make([]float32, 0, len(s.illicit)*r.others())}
	for _, answers := range slices.Concat(said...) {
		for _, p := range answers {
			out.Probabilities = append(out.Probabilities, float32(p)) // exact: a model said it so
		}
	}
	return out, nil
}

// said returns, by component, what its groups say that do not hold a slice.
func (r Runner) said(ctx context.Context, models []*trainer.Checkpoint, s source) ([][][]float64, error) {
	out := make([][][]float64, len(r.Layout.Components))
	if len(s.illicit) == 0 {
		return out, nil
	}
	var whole, alone trainer.Input
	if s.slice != nil {
		whole, alone = trainer.InputOfSlice(s.slice), trainer.InputOfNodes(s.slice, s.labelled)
	}
	known, first := s.answers, 0
	for k, c := range r.Layout.Components {
		graph := whole
		if c.Config.LooksAtRows() {
			graph = alone
		}
		holder := group.Of(s.shard, c.Groups, r.Layout.Shards)
		for in := range c.Groups {
			if in == holder {
				continue
			}
			answers, err := known.ask(lethe.ShardID(first+in), models[first+in], func() ([]float64, error) {
				posteriors, err := r.Engines[k].Probabilities(ctx, models[first+in], graph)
				if err != nil || c.Config.LooksAtRows() {
					return Illicit(posteriors), err
				}
				return among(Illicit(posteriors), s.labelled), nil
			})
			if err != nil {
				return nil, fmt.Errorf("slice of timestep %d, shard %d: %w", s.slice.Timestep, s.shard, err)
			}
			out[k] = append(out[k], answers)
		}
		first += c.Groups
	}
	return out, nil
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
