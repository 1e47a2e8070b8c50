package score

import (
	"context"
	"errors"
	"slices"

	"lethe"
	"lethe/ingest"
	"lethe/internal/precedence"
	"lethe/scoring/ensemble"
	"lethe/scoring/reasons"
	"lethe/trainer"
)

// asked is a graph with the ensemble that explains it. It shares nothing with the loop.
type asked struct {
	predictor
	by         *ensemble.Ensemble
	snapshot   *lethe.Snapshot
	graph      trainer.Input
	neighbours [][]uint32
	explainer  reasons.Explainer
	again      bool
	hides      func(lethe.TransactionID) bool
	// first goes before reasons.
	first *precedence.Rule
}

func (e *explaining) newAsked(by *ensemble.Ensemble, s *lethe.Snapshot, again bool) *asked {
	q := &asked{
		predictor: e.predictor, by: by, snapshot: s, graph: trainer.InputOf(e.o.OneHop.Join(s)), again: again,
		hides: e.state.hidden.hidesNow(e.o.Secret), first: e.o.First,
	}
	q.neighbours = q.graph.Neighbours()
	q.explainer = reasons.Explainer{
		Top: e.o.reasons(), OneHop: e.o.OneHop, Names: e.o.FeatureNames,
		Named: func(n lethe.SnapshotNode) bool { return !q.hides(n.ID) },
	}
	return q
}

// reasons returns the records of transactions, tombstones of those without reasons.
func (q *asked) reasons(ctx context.Context, rows []int) ([]ingest.Outgoing, error) {
	out := make([]ingest.Outgoing, len(rows))
	for i, at := range rows {
		out[i].Key = ingest.TransactionKey(q.snapshot.Nodes[at].ID)
	}
	if q.by == nil || q.explainer.Top == 0 || len(rows) == 0 {
		return out, nil
	}
	q.first.Give(ctx)
	values, err := q.records(ctx, rows)
	switch {
	case errors.Is(err, trainer.ErrNotFinite) && len(rows) > 1: // not all need be the cause
		for i := range rows {
			one, err := q.reasons(ctx, rows[i:i+1])
			if err != nil {
				return nil, err
			}
			out[i] = one[0]
		}
		return out, nil
	case err != nil && !errors.Is(err, trainer.ErrNotFinite):
		return nil, err
	}
	for i, value := range values {
		out[i].Value = value
	}
	return out, nil
}

// records returns the records of transactions, none if no component moves the probability.
func (q *asked) records(ctx context.Context, rows []int) (out [][]byte, err error) {
	var weights []float64
	if q.by.Meta != nil {
		weights = q.by.Meta.Combination.Coefficients()
		if !slices.ContainsFunc(weights, func(w float64) bool { return w != 0 }) {
			return nil, nil // nothing moves it
		}
	}
	explanations, err := q.runner.Explain(ctx, q.by.Models, weights, q.graph, q.neighbours, rows)
	if err != nil {
		return nil, err
	}
	for i, at := range rows {
		value, err := q.record(at, explanations[i], weights)
		if err != nil {
			return nil, err
		}
		out = append(out, value)
	}
	return out, nil
}

// record returns the record of a transaction.
func (q *asked) record(at int, explanation ensemble.Explanation, weights []float64) ([]byte, error) {
	around := reasons.Surroundings{
		Snapshot: q.snapshot, Rows: explanation.Rows, At: explanation.At, Neighbours: explanation.Graph.Neighbours(),
	}
	record := reasons.Record{
		Transaction: q.snapshot.Nodes[at].ID, Timestep: q.snapshot.Timestep,
		EnsembleVersion: q.by.Version, TrainedThrough: q.by.Through, Again: q.again,
	}
	if q.by.Meta != nil {
		intercept := q.by.Meta.Combination.Intercept()
		record.Intercept = &intercept
	}
	for k, a := range explanation.Components {
		if a == nil {
			continue
		}
		c := q.explainer.Component(a, around)
		c.Model, c.Groups = q.layout.Components[k].Config.Model, q.layout.Components[k].Groups
		if weights != nil {
			c.Weight = &weights[k]
		}
		record.Components = append(record.Components, c)
	}
	return record.Encode()
}
