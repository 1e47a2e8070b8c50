package train

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/canonical"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
	"lethe/scoring/ensemble"
)

// adoption stores models of other processes, once this process has the slices that they were made of, which their
// lineage identifies. Until then it holds them in memory: slices may arrive after the models made of them.
type adoption struct {
	l *logic
	// lineages are the expected lineages of models, for the timesteps in known.
	lineages *ensemble.Lineages
	known    map[lethe.Timestep]bool
}

func newAdoption(l *logic) *adoption {
	a := &adoption{l: l, lineages: ensemble.NewLineages(l.layout, l.meta), known: make(map[lethe.Timestep]bool)}
	for _, c := range l.columns {
		c.learners = append(c.learners, a)
	}
	return a
}

// unlearn implements learner.
func (a *adoption) unlearn(from lethe.Timestep) error {
	for t := range a.known {
		if t >= from {
			a.lineages.Forget(t)
			delete(a.known, t)
		}
	}
	return nil
}

// take processes records of models.v1, except this process's own.
func (a *adoption) take(in role.Input) error {
	for _, m := range in.Messages {
		if m.Deleted {
			a.l.topic.drop(m.Key)
			continue
		}
		shard := a.l.shardOf(m.Key.Shard)
		a.l.share.recordOwner(shard, m.Owner)
		if a.l.share.owns(shard) && m.Owner == a.l.share.ownerOf(shard) {
			continue
		}
		e, err := a.entryOf(m)
		if err != nil {
			a.l.o.PassOver(roleName, in.Batch.Source.Topic, m)
		}
		a.l.topic.put(m.Key, e)
	}
	return nil
}

// entryOf returns the topic entry of a message. An unreadable message gives the zero entry, which any model replaces.
func (a *adoption) entryOf(m wire.Received) (e entry, err error) {
	e = entry{digest: canonical.DigestOf(m.Payload), revision: m.Revision}
	s := a.l.seriesOf(m.Key.Shard)
	if s == nil || a.l.o.Sharer == nil {
		return e, nil
	}
	lineage, checkpoint, err := lineageOf(s, m.Payload)
	if err == nil && checkpoint != nil {
		err = a.l.runner.Engine(s.number).Compatible(checkpoint)
	}
	if err != nil {
		return entry{}, err
	}
	if e.lineage = lineage; !s.holds(m.Key.Timestep) {
		e.payload = m.Payload
	}
	return e, nil
}

// adopt stores the models whose lineage matches this process's slices. Slices may change and change back: then the
// topic is read again for models that were adopted before.
func (a *adoption) adopt(ctx context.Context) error {
	for again := false; ; again = true {
		missing, err := a.adoptAll()
		if err != nil || !missing || again {
			return err
		}
		if err := a.l.readTopic(ctx); err != nil {
			return err
		}
	}
}

// adoptAll stores matching models, and reports whether the payload of a matching one is not in memory.
func (a *adoption) adoptAll() (missing bool, err error) {
	for _, number := range slices.Sorted(maps.Keys(a.l.topic)) {
		s, held := a.l.seriesOf(number), a.l.topic[number]
		if s == nil {
			continue
		}
		for _, t := range slices.Sorted(maps.Keys(held)) {
			e := held[t]
			if s.holds(t) || s.onDemand && t < s.needed {
				continue
			}
			if fits, err := a.fits(s, t, e.lineage); err != nil {
				return missing, err
			} else if !fits {
				continue
			}
			if missing = missing || e.payload == nil; e.payload == nil {
				continue
			}
			if err := s.keep(true, learnt{t, e.payload, e.lineage}); err != nil {
				return missing, fmt.Errorf("adopt model %d after timestep %d: %w", number, t, err)
			}
			e.payload, s.fresh = nil, nil
			held[t] = e
			if s.component != overall && t == s.newest() {
				if err := a.l.models[number].load(); err != nil {
					return missing, err
				}
			}
		}
	}
	return missing, nil
}

// fits reports whether a lineage is that of this process's slices.
func (a *adoption) fits(s *series, t lethe.Timestep, lineage lethe.Digest) (bool, error) {
	if err := a.learn(t); err != nil {
		return false, err
	}
	all, known := a.lineages.At(t)
	return known && all[s.number] == lineage, nil
}

// learn computes the lineages through a timestep.
func (a *adoption) learn(through lethe.Timestep) error {
	columns := a.l.columns
	for _, t := range columns[0].timesteps {
		if t > through {
			break
		}
		if a.known[t] || !columns.agree(t) {
			continue
		}
		digests := make([]lethe.Digest, len(columns))
		for i, c := range columns {
			var err error
			if digests[i], err = c.digest(t); err != nil {
				return err
			}
		}
		a.lineages.Learn(t, columns.previous(t), digests)
		a.known[t] = true
	}
	return nil
}
