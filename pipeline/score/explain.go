package score

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/swapstore"
	"lethe/pipeline/role"
	"lethe/scoring/reasons"
	"lethe/trainer"
)

// explainTogether is how many alerts a step explains at most: what arrives must not wait
// for all.
const explainTogether = 8

// explain publishes the reasons of some alerts that are owed, by the ensemble that is
// served. Without one, or if there are to be no reasons any more, or none can be computed,
// those that were published are withdrawn.
func explain(ctx context.Context, l *logic, t lethe.Timestep) (role.Output, error) {
	snapshot, err := l.state.snapshot(t)
	if err != nil {
		return role.Output{}, err
	}
	before, err := readExplained(l.state.store, t)
	if err != nil {
		return role.Output{}, err
	}
	ask := newAsked(l, snapshot, l.state.links[t].owed == owesAgain)
	after := explained{changed: true}
	var records []ingest.Outgoing
	hides := l.state.hiding(l.o.Secret)
	for _, a := range before.alerts {
		at, found := snapshot.Find(a.node)
		switch {
		case !found || hides(snapshot.Nodes[at].ID):
			continue // the erasure withdraws what there is
		case a.owed && len(records) < explainTogether:
			node := snapshot.Nodes[at]
			record := ingest.Outgoing{Key: ingest.TransactionKey(node.ID)}
			if l.state.served != nil && l.o.reasons() > 0 {
				record.Value, err = ask.record(ctx, at)
			}
			if err != nil && !errors.Is(err, trainer.ErrNotFinite) {
				return role.Output{}, fmt.Errorf("explain node %d of timestep %d: %w", at, t, err)
			}
			if records = append(records, record); record.Value == nil {
				continue
			}
			a = alert{node: a.node, around: ask.around(at)}
		}
		after.alerts = append(after.alerts, a)
	}
	return role.Output{Topic: bus.Reasons, Records: records, Note: func() error {
		next := l.state.links[t]
		if after.owed() == 0 {
			next.owed = owesNothing
		}
		err := l.state.store.Apply(func(w swapstore.Writer) error {
			return errors.Join(after.write(w, t), next.settle(w, t))
		})
		if err != nil {
			return fmt.Errorf("note that timestep %d was explained: %w", t, err)
		}
		l.state.links[t] = next
		return nil
	}}, nil
}

// reasons is how many each component gives of an alert at most, 0 if none can.
func (o Options) reasons() int {
	for _, c := range o.Layout.Components {
		if c.Config.Explains() {
			return o.Scoring.Reasons
		}
	}
	return 0
}

// asked is a graph that the served ensemble is asked about.
type asked struct {
	*logic
	snapshot   *lethe.Snapshot
	graph      trainer.Input
	neighbours [][]uint32
	explainer  reasons.Explainer
	again      bool
}

func newAsked(l *logic, s *lethe.Snapshot, again bool) *asked {
	q := &asked{logic: l, snapshot: s, graph: trainer.InputOf(l.o.OneHop.Join(s)), again: again}
	q.neighbours = q.graph.Neighbours()
	hides := l.state.hiding(l.o.Secret)
	q.explainer = reasons.Explainer{
		Top: l.o.reasons(), OneHop: l.o.OneHop, Names: l.o.FeatureNames,
		Named: func(n lethe.SnapshotNode) bool { return !hides(n.ID) },
	}
	return q
}

// around are the other ends of a transaction's payments, ascending as the nodes are.
func (q *asked) around(at int) (out []lethe.Pseudonym) {
	for _, i := range q.neighbours[at] {
		out = append(out, q.snapshot.Nodes[i].Pseudonym)
	}
	return out
}

// record is that of a transaction, nil if no component moves the probability.
func (q *asked) record(ctx context.Context, at int) ([]byte, error) {
	served, layout := q.state.served, q.o.Layout
	var weights []float64
	if served.Meta != nil {
		weights = served.Meta.Combination.Coefficients()
		if !slices.ContainsFunc(weights, func(w float64) bool { return w != 0 }) {
			return nil, nil // nothing moves it
		}
	}
	said, err := q.predictor.runner.Explain(ctx, served.Models, weights, q.graph, q.neighbours, at)
	if err != nil {
		return nil, err
	}
	around := reasons.Surroundings{
		Snapshot: q.snapshot, Rows: said.Rows, At: said.At, Neighbours: said.Graph.Neighbours(),
	}
	record := reasons.Record{
		Transaction: q.snapshot.Nodes[at].ID, Timestep: q.snapshot.Timestep,
		EnsembleVersion: served.Version, TrainedThrough: served.Through, Again: q.again,
	}
	if served.Meta != nil {
		intercept := served.Meta.Combination.Intercept()
		record.Intercept = &intercept
	}
	for k, a := range said.Components {
		if a == nil {
			continue
		}
		c := q.explainer.Component(a, around)
		c.Model, c.Groups = layout.Components[k].Config.Model, layout.Components[k].Groups
		if weights != nil {
			c.Weight = &weights[k]
		}
		record.Components = append(record.Components, c)
	}
	return record.Encode()
}
