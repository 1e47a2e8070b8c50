package sent

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/scoring"
)

// Said is what a prediction says.
type Said struct {
	Probability float64
	Class       string
}

// Predictions are those that are in the topic and may not be noted. A nil one is empty.
type Predictions struct {
	secret lethe.Secret
	of     map[lethe.Timestep]map[lethe.Pseudonym]Said
	// graphs is up to where snapshots.v1 has the graphs of which something was predicted, of the partitions that
	// were not read as far.
	graphs map[bus.TopicPartition]int64
}

// Read reads those of a process that is to lead; without a Standing there are none, for nobody else
// plays the role. Errors: those of the topics.
func Read(ctx context.Context, b role.Bus, s *role.Standing, secret lethe.Secret) (*Predictions, error) {
	p := &Predictions{secret: secret, of: make(map[lethe.Timestep]map[lethe.Pseudonym]Said)}
	if s == nil {
		return p, nil
	}
	from, err := s.Unnoted(ctx, b, bus.Predictions)
	if err == nil {
		err = read(ctx, b, bus.Predictions, from, p.take)
	}
	if err == nil {
		p.graphs, err = bus.EndsOf(ctx, b, bus.Snapshots)
	}
	if err != nil {
		return nil, fmt.Errorf("read what was predicted: %w", err)
	}
	return p, nil
}

// read gives what stands in a topic behind some positions.
func read(
	ctx context.Context, b role.Bus, topic bus.Topic, from map[bus.TopicPartition]int64, take func([]ingest.Record),
) error {
	left, err := bus.EndsOf(ctx, b, topic)
	if err != nil {
		return err
	}
	for tp, end := range left {
		if _, said := from[tp]; !said {
			from[tp] = bus.FromStart
		}
		if max(0, from[tp]) >= end {
			delete(left, tp)
			delete(from, tp)
		}
	}
	if len(left) == 0 {
		return nil
	}
	tail, err := b.Follow(from)
	if err != nil {
		return err
	}
	for len(left) > 0 && err == nil {
		var batch bus.Batch
		batch, err = tail.Next(ctx)
		if errors.Is(err, bus.ErrInterrupted) && ctx.Err() == nil {
			err = nil
			continue
		}
		take(batch.Records)
		if end, waits := left[batch.Source]; waits && batch.Next >= end {
			delete(left, batch.Source)
		}
	}
	return errors.Join(err, tail.Close())
}

// take notes predictions, and forgets those that were withdrawn. What is none stands for nothing.
func (p *Predictions) take(records []ingest.Record) {
	for _, rec := range records {
		if rec.Unproven != "" {
			continue
		}
		if rec.Tombstone() {
			node := p.secret.Pseudonym(lethe.TransactionID(rec.Key))
			for _, said := range p.of {
				delete(said, node)
			}
			continue
		}
		prediction, err := scoring.DecodePrediction(rec.Value)
		if err != nil || !prediction.Final {
			continue
		}
		t := prediction.Timestep
		if p.of[t] == nil {
			p.of[t] = make(map[lethe.Pseudonym]Said)
		}
		p.of[t][p.secret.Pseudonym(prediction.Transaction)] = Said{prediction.Probability, prediction.Class}
	}
}

// Of returns what was said of a transaction of a timestep.
func (p *Predictions) Of(t lethe.Timestep, node lethe.Pseudonym) (Said, bool) {
	if p == nil {
		return Said{}, false
	}
	said, found := p.of[t][node]
	return said, found
}

// Nodes are the transactions of which something was said.
func (p *Predictions) Nodes() (out []lethe.Pseudonym) {
	for _, said := range p.of {
		for node := range said {
			out = append(out, node)
		}
	}
	return out
}

// Noted forgets what was said of some transactions of a timestep, once that is noted. Others may be in a graph that
// is still to be read.
func (p *Predictions) Noted(t lethe.Timestep, nodes []lethe.Pseudonym) {
	if p == nil {
		return
	}
	for _, node := range nodes {
		delete(p.of[t], node)
	}
}

// Read notes up to where graphs were read.
func (p *Predictions) Read(tp bus.TopicPartition, next int64) {
	if p == nil {
		return
	}
	if end, waits := p.graphs[tp]; waits && next >= end {
		delete(p.graphs, tp)
	}
}

// Left reports whether there is something that is still to be noted. waits says whether a timestep is still to be
// scored: of others nothing is, once all graphs were read, for what was said of them was erased since.
func (p *Predictions) Left(waits func(lethe.Timestep) bool) bool {
	if p == nil {
		return false
	}
	maps.DeleteFunc(p.of, func(t lethe.Timestep, said map[lethe.Pseudonym]Said) bool {
		return len(said) == 0 || len(p.graphs) == 0 && !waits(t)
	})
	return len(p.of) > 0
}
