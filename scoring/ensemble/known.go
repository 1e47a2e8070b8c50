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

// Source is a slice that a meta-model is learned from.
type Source struct {
	Shard  lethe.ShardID
	Digest lethe.Digest
	// Read returns the slice. It is called at most once, and not at all if all results for it are known.
	// Several goroutines may read different slices.
	Read func() (*lethe.Slice, error)
}

// Window returns the slices of every shard of some timesteps, oldest first.
func Window(window [][]*lethe.Slice) (out []Source) {
	for _, s := range slices.Concat(window...) {
		out = append(out, Source{
			Shard: s.Shard, Digest: canonical.DigestSlice(s), Read: func() (*lethe.Slice, error) { return s, nil },
		})
	}
	return out
}

// Known caches the models' results on slices from the last call of Learn: after an erasure nearly
// all models and slices are unchanged. It holds nothing else. The zero value is empty. Only one
// Learn may use it at a time.
type Known struct{ bySlice map[lethe.Digest]known }

// known is the cached result of one slice: the labels of its labelled nodes, and the models' logits
// for these.
type known struct {
	illicit []bool
	logits  map[asked][]float64
}

// asked is a model and its cached logits.
type asked struct {
	model   lethe.ShardID
	lineage lethe.Digest
}

// replace replaces the cache by the results of the current call.
func (k *Known) replace(sources []Source, now []known) {
	k.bySlice = make(map[lethe.Digest]known, len(sources))
	for i, s := range sources {
		k.bySlice[s.Digest] = now[i]
	}
}

// source is a slice in the form in which models are evaluated on it.
type source struct {
	Source
	before, now known
	// inputs returns the models' input: the whole slice or, for models that process rows independently, its
	// labelled nodes only. It is read on first use.
	inputs func() (questions, error)
}

// questions are the model inputs of a slice.
type questions struct {
	whole, alone trainer.Input
	// labelled are its labelled nodes.
	labelled []int
	illicit  []bool
}

// at returns a slice with its cached results.
func (k *Known) at(s Source) (out source, err error) {
	out = source{Source: s, now: known{logits: make(map[asked][]float64)}}
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

// logits returns, by component, the logits of its groups that do not contain a slice.
func (r Runner) logits(ctx context.Context, models []*trainer.Checkpoint, s source) ([][][]float64, error) {
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

// answer returns a model's logits for a slice's labelled nodes, from the cache if model and slice
// are unchanged.
func (r Runner) answer(ctx context.Context, number lethe.ShardID, m *trainer.Checkpoint, s source) ([]float64, error) {
	key := asked{number, m.Lineage}
	logits, ok := s.before.logits[key]
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
		if logits = Illicit(posteriors); !rows {
			logits = among(logits, q.labelled)
		}
	}
	s.now.logits[key] = logits
	return logits, nil
}

// among returns the logits of some nodes.
func among(answers []float64, nodes []int) []float64 {
	out := make([]float64, len(nodes))
	for i, node := range nodes {
		out[i] = answers[node]
	}
	return out
}
