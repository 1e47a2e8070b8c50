package ensemble

import (
	"context"

	"lethe/scoring/meta"
	"lethe/scoring/stack"
	"lethe/trainer"
)

// Learn learns the meta-model over models that were trained through a timestep, from the labelled
// nodes of the slices of every shard of the last timesteps up to it, oldest timestep first and in
// the order of shards. For each node every component contributes the mean logit of its groups that
// do not contain it (out-of-group predictions): none of them has learned from the node. Models are
// evaluated on the node as it is in its slice.
//
// The result does not depend on the cache known, which receives the results of this call.
//
// The caller must set the lineage of the result. Errors are those of Source.Read, Probabilities and
// meta.Fit. If a component has a single group nothing is learned: the meta-model is the mean of the
// components.
func (r Runner) Learn(
	ctx context.Context, c meta.Config, models []*trainer.Checkpoint, sources []Source, k *Known,
) (*meta.Model, error) {
	if !r.crossed() {
		sources = nil
	}
	parts, now := make([]stack.Rows, len(sources)), make([]known, len(sources))
	err := r.Each(ctx, len(sources), func(ctx context.Context, i int) error {
		s, err := k.at(sources[i])
		if err != nil {
			return err
		}
		now[i] = s.now
		parts[i], err = r.outOfGroup(ctx, models, s)
		return err
	})
	if err != nil {
		return nil, err
	}
	k.replace(sources, now)
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

// crossed reports whether every component has a group that does not contain a given node. Otherwise
// nothing can be learned.
func (r Runner) crossed() bool {
	for _, c := range r.Layout.Components {
		if c.Groups < 2 {
			return false
		}
	}
	return true
}

// outOfGroup returns the components' out-of-group logits for the labelled nodes of a slice.
func (r Runner) outOfGroup(ctx context.Context, models []*trainer.Checkpoint, s source) (stack.Rows, error) {
	logits, err := r.logits(ctx, models, s)
	illicit := s.now.illicit
	rows := stack.Rows{
		Components: len(logits), Illicit: illicit, Logits: make([]float64, len(illicit)*len(logits)),
	}
	for k, of := range logits {
		if len(of) == 0 {
			continue // a slice without labels
		}
		for i, logit := range stack.MeanLogits(of) {
			rows.Logits[i*rows.Components+k] = logit
		}
	}
	return rows, err
}

// Logits returns, by component, the mean logit of illicit of its groups for every node.
func (a *Answers) Logits(l Layout) [][]float64 {
	out := make([][]float64, len(l.Components))
	first := 0
	for k, c := range l.Components {
		logits := make([][]float64, c.Groups)
		for in := range logits {
			logits[in] = Illicit(a.Shards[first+in])
		}
		out[k] = stack.MeanLogits(logits)
		first += c.Groups
	}
	return out
}
