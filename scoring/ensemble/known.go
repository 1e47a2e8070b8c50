package ensemble

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"lethe"
	"lethe/canonical"
	"lethe/trainer"
	"lethe/trainer/group"
)

// Source is a slice that a meta-model is learnt from.
type Source struct {
	Shard  lethe.ShardID
	Digest lethe.Digest
	// Read returns the slice. It is called once at most, and not at all if everything is known of it. Several
	// goroutines may read different ones.
	Read func() (*lethe.Slice, error)
}

// Window are the slices of every shard of some timesteps, oldest first.
func Window(window [][]*lethe.Slice) (out []Source) {
	for _, s := range slices.Concat(window...) {
		out = append(out, Source{
			Shard: s.Shard, Digest: canonical.DigestSlice(s), Read: func() (*lethe.Slice, error) { return s, nil },
		})
	}
	return out
}

// Known is what models said of slices when Learn was called last: after an erasure nearly
// all models and slices are as they were. It holds nothing of others. The zero value knows
// nothing. One Learn at a time may use it.
type Known struct{ bySlice map[lethe.Digest]known }

// known is what is known of one slice: the labels of its labelled nodes, and what models say of these.
type known struct {
	illicit []bool
	said    map[asked][]float64
}

// asked is a model as it was asked.
type asked struct {
	model   lethe.ShardID
	lineage lethe.Digest
}

// replace forgets everything but what was asked now.
func (k *Known) replace(sources []Source, now []known) {
	k.bySlice = make(map[lethe.Digest]known, len(sources))
	for i, s := range sources {
		k.bySlice[s.Digest] = now[i]
	}
}

// source is a slice as models are asked about it.
type source struct {
	Source
	before, now known
	// inputs are how models see it: whole or, where they look at rows, its labelled nodes alone. It is read when
	// first needed.
	inputs func() (questions, error)
}

// questions are what models are asked about a slice.
type questions struct {
	whole, alone trainer.Input
	// labelled are its labelled nodes.
	labelled []int
	illicit  []bool
}

// at returns a slice with what is known of it.
func (k *Known) at(s Source) (out source, err error) {
	out = source{Source: s, now: known{said: make(map[asked][]float64)}}
	out.inputs = sync.OnceValues(func() (q questions, err error) {
		slice, err := s.Read()
		if err != nil {
			return q, err
		}
		for node, label := range slice.Labels {
			if label == lethe.Licit || label == lethe.Illicit {
				q.labelled, q.illicit = append(q.labelled, node), append(q.illicit, label == lethe.Illicit)
			}
		}
		q.whole, q.alone = trainer.InputOfSlice(slice), trainer.InputOfNodes(slice, q.labelled)
		return q, nil
	})
	var before bool
	if out.before, before = k.bySlice[s.Digest]; before {
		out.now.illicit = out.before.illicit
		return out, nil
	}
	q, err := out.inputs()
	out.now.illicit = q.illicit
	return out, err
}

// said returns, by component, what its groups say that do not hold a slice.
func (r Runner) said(ctx context.Context, models []*trainer.Checkpoint, s source) ([][][]float64, error) {
	out := make([][][]float64, len(r.Layout.Components))
	if len(s.now.illicit) == 0 {
		return out, nil
	}
	first := 0
	for k, c := range r.Layout.Components {
		holder := group.Of(s.Shard, c.Groups, r.Layout.Shards)
		for in := range c.Groups {
			if in == holder {
				continue
			}
			model := lethe.ShardID(first + in)
			answers, err := r.answer(ctx, model, models[model], s)
			if err != nil {
				return nil, fmt.Errorf("slice of shard %d: %w", s.Shard, err)
			}
			out[k] = append(out[k], answers)
		}
		first += c.Groups
	}
	return out, nil
}

// answer is what a model says of a slice's labelled nodes: what it said before, if it is the same.
func (r Runner) answer(ctx context.Context, number lethe.ShardID, m *trainer.Checkpoint, s source) ([]float64, error) {
	key := asked{number, m.Lineage}
	said, ok := s.before.said[key]
	if !ok {
		q, err := s.inputs()
		if err != nil {
			return nil, err
		}
		engine, graph := r.Engine(number), q.whole
		rows := engine.Config().LooksAtRows()
		if rows {
			graph = q.alone
		}
		posteriors, err := engine.Probabilities(ctx, m, graph)
		if err != nil {
			return nil, err
		}
		if said = Illicit(posteriors); !rows {
			said = among(said, q.labelled)
		}
	}
	s.now.said[key] = said
	return said, nil
}

// among returns the answers about some nodes.
func among(answers []float64, nodes []int) []float64 {
	out := make([]float64, len(nodes))
	for i, node := range nodes {
		out[i] = answers[node]
	}
	return out
}
