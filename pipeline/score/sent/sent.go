package sent

import (
	"context"
	"errors"
	"fmt"

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
		err = p.read(ctx, b, from)
	}
	if err != nil {
		return nil, fmt.Errorf("read what was predicted: %w", err)
	}
	return p, nil
}

// read takes what stands behind some positions.
func (p *Predictions) read(ctx context.Context, b role.Bus, from map[bus.TopicPartition]int64) error {
	left, err := bus.EndsOf(ctx, b, bus.Predictions)
	if err != nil {
		return err
	}
	for tp, end := range left {
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
		p.take(batch.Records)
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

// Noted forgets what was said of a timestep, once that is noted.
func (p *Predictions) Noted(t lethe.Timestep) {
	if p != nil {
		delete(p.of, t)
	}
}
