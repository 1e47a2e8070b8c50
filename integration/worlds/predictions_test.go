package worlds

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/canonical"
	"lethe/scoring"
	"lethe/scoring/ensemble"
	"lethe/trainer"
)

// oracle tells what is to be predicted: by the models that the slices give from fresh
// weights, and by the world that never saw the targets.
type oracle struct {
	w         world
	got, want *state
	models    models
	runner    ensemble.Runner
	// ensembles are those after every timestep.
	ensembles map[lethe.Timestep]*ensemble.Ensemble
}

// predicted compares the predictions. Which there are does not depend on the targets,
// but for those that were sent before the targets were erased. What was predicted since
// then is what the models answer.
func (o oracle) predicted(ctx context.Context, c *comparison) error {
	for id, p := range o.want.predictions {
		have, given := o.got.predictions[id]
		if !given && o.w.tookBack(lethe.Transactions(id)[0]) {
			continue // scored while its request suppressed it
		}
		c.equal(fmt.Sprintf("prediction of a transaction of %d", p.Timestep), given, true)
		c.equal("its timestep", have.Timestep, p.Timestep)
	}
	for id, p := range o.got.predictions {
		if !p.Late && p.TrainedThrough >= p.Timestep {
			*c = append(*c, fmt.Sprintf("%q of %d is predicted by models of %d and not late", id, p.Timestep, p.TrainedThrough))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(o.got.later)) {
		p := o.got.later[id]
		if _, given := o.want.predictions[id]; !given {
			*c = append(*c, fmt.Sprintf("a prediction too many, of a transaction of %d", p.Timestep))
		}
		if p.Timestep > o.w.last || !o.w.late {
			c.equal(fmt.Sprintf("lateness of %q", id), p.Late, false)
		}
	}
	for t := range o.want.graphs {
		if err := o.asked(ctx, c, t); err != nil {
			return fmt.Errorf("predictions of %d: %w", t, err)
		}
	}
	return nil
}

// asked compares what was predicted for a timestep since the last swap with what the
// models answer now, and with what is predicted where no target ever was. Records that
// come late change graphs and models after something was predicted; then that is as
// before an erasure, and stays.
func (o oracle) asked(ctx context.Context, c *comparison, t lethe.Timestep) error {
	g, err := canonical.DecodeSnapshot(o.want.graphs[t].Payload)
	if err != nil {
		return err
	}
	digest := scoring.GraphDigest(g)
	type answer struct {
		illicit   []float64
		threshold float64
	}
	answers := make(map[lethe.Timestep]answer)
	for i, n := range g.Nodes {
		p, given := o.got.later[n.ID]
		if !given {
			continue
		}
		what := fmt.Sprintf("prediction %d of %d", i, t)
		if o.untouched(p) && p.Late == o.want.predictions[n.ID].Late {
			c.equal(what+" beside that of the other world", p, o.want.predictions[n.ID])
		}
		e := o.ensembles[p.TrainedThrough]
		if e == nil {
			*c = append(*c, fmt.Sprintf("%s: no models are trained through %d", what, p.TrainedThrough))
			continue
		}
		id := scoring.PredictionID(secret, &p, digest)
		if (o.w.late && t <= o.w.last || o.got.rebuilt) && (p.EnsembleVersion != e.Version || p.ID != id) {
			continue
		}
		said, asked := answers[e.Through]
		if !asked {
			if said.illicit, said.threshold, err = o.ask(ctx, e, g); err != nil {
				return err
			}
			answers[e.Through] = said
		}
		c.equal(what, p, scoring.Prediction{
			ID: id, Transaction: n.ID, Timestep: t, Probability: said.illicit[i], Threshold: said.threshold,
			Class:           scoring.Classify(said.illicit[i], said.threshold),
			EnsembleVersion: e.Version, TrainedThrough: e.Through, Aggregation: o.models.scoring.Aggregation, Late: p.Late,
			Final: true,
		})
		if !p.Late && (!o.w.late || t > o.w.last) {
			c.equal(what+" is by the models before", p.TrainedThrough, o.want.graphs[t].Previous)
		}
	}
	return nil
}

// untouched reports whether nothing that a prediction is made of ever held a target, or
// was written anew: then it is the other world's in every respect.
func (o oracle) untouched(p scoring.Prediction) bool {
	if o.w.loose || p.TrainedThrough != o.want.predictions[p.Transaction].TrainedThrough {
		return false
	}
	for _, s := range []*state{o.got, o.want} {
		if s.graphs[p.Timestep].Revision != 1 {
			return false
		}
		for t, revision := range s.revisions {
			if t <= p.TrainedThrough && revision != 1 {
				return false
			}
		}
	}
	return true
}

// ask returns what an ensemble predicts for the transactions of a graph, and the threshold.
func (o oracle) ask(ctx context.Context, e *ensemble.Ensemble, g *lethe.Snapshot) ([]float64, float64, error) {
	answers, err := o.runner.Ask(ctx, e.Models, trainer.InputOf(o.w.oneHop.Join(g)))
	if err != nil {
		return nil, 0, err
	}
	return o.models.combine(e, answers)
}
