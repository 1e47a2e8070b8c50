package train

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/sortedset"
	"lethe/internal/swapstore"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
	"lethe/scoring/meta"
	"lethe/trainer"
)

// adopt stores what another process has learnt, and published. Whether that was before its timestep was gone, or what
// came after it, nothing tells: where the topic was to be told so, it is told the value anew.
func (s *series) adopt(step learnt) error {
	again := slices.Contains(s.again, step.at)
	if err := s.store.Apply(func(w swapstore.Writer) error {
		w.Delete(learntKey(saidPrefix, step.at, s.component))
		s.clearMarks(w, step.at)
		w.Set(append([]byte(adoptedPrefix), byte(s.component)), nil)
		w.Set(learntKey(checkpointPrefix, step.at, s.component), step.value)
		if again {
			w.Set(learntKey(unsentPrefix, step.at, s.component), againMark())
		}
		return nil
	}); err != nil {
		return err
	}
	s.marksCleared(step.at)
	if again {
		s.again, s.unsent = sortedset.Add(s.again, step.at), sortedset.Add(s.unsent, step.at)
	}
	s.lineages[step.at] = step.lineage
	s.said = without(s.said, []lethe.Timestep{step.at})
	s.kept = sortedset.Add(s.kept, step.at)
	return nil
}

// published notes that the topic has a value that is here, unless that may be one of before its timestep was gone, or
// what came after it.
func (s *series) published(t lethe.Timestep) error {
	if slices.Contains(s.again, t) || !slices.Contains(s.unsent, t) && !slices.Contains(s.withdrawn, t) {
		return nil
	}
	if err := s.store.Apply(func(w swapstore.Writer) error {
		s.clearMarks(w, t)
		return nil
	}); err != nil {
		return err
	}
	s.marksCleared(t)
	return nil
}

// clearMarks removes the marks that the topic is to be told something of a timestep.
func (s *series) clearMarks(w swapstore.Writer, t lethe.Timestep) {
	deleteLearnt(w, t, s.component, unsentPrefix, withdrawnPrefix, supersededPrefix)
}

func (s *series) marksCleared(t lethe.Timestep) {
	for _, of := range []*[]lethe.Timestep{&s.unsent, &s.absent, &s.again, &s.withdrawn, &s.superseded} {
		*of = without(slices.Clone(*of), []lethe.Timestep{t})
	}
}

// deletedByOwner notes that the topic has no value of a timestep any more.
func (s *series) deletedByOwner(t lethe.Timestep) error {
	holds := s.holds(t)
	marked := slices.Contains(s.withdrawn, t) || slices.Contains(s.superseded, t) || slices.Contains(s.again, t)
	if holds && slices.Contains(s.absent, t) || !holds && !marked {
		return nil
	}
	if err := s.store.Apply(func(w swapstore.Writer) error {
		s.clearMarks(w, t)
		if holds {
			w.Set(learntKey(unsentPrefix, t, s.component), absentMark())
		}
		return nil
	}); err != nil {
		return err
	}
	s.marksCleared(t)
	if holds {
		s.unsent, s.absent = sortedset.Add(s.unsent, t), sortedset.Add(s.absent, t)
	}
	return nil
}

// restate has the topic told again what there is of a timestep: somebody else has said
// something there.
func (s *series) restate(t lethe.Timestep) error {
	if !s.holds(t) {
		err := s.setMarks(withdrawnPrefix, nil, t)
		if err == nil {
			s.withdrawn = sortedset.Add(s.withdrawn, t)
		}
		return err
	}
	err := s.setMarks(unsentPrefix, s.unsentMark(t), t)
	if err == nil {
		s.unsent, s.absent = sortedset.Add(s.unsent, t), without(slices.Clone(s.absent), []lethe.Timestep{t})
	}
	return err
}

// lookAgain has what the topic holds no longer count as deleted, where this process has taken models over: a deletion
// may be gone from the topic, with what it deletes, before this process came to it, though it has read that.
func (a *adoption) lookAgain(ctx context.Context) error {
	holds, err := modelsIn(ctx, a.l.o.Bus)
	if err != nil {
		return fmt.Errorf("models that are published: %w", err)
	}
	for key := range a.offers {
		if s := a.l.seriesOf(key); s != nil && a.l.owns(s) && !holds[key] {
			a.forget(key)
		}
	}
	for _, s := range a.l.all() {
		if a.l.owns(s) && s.needed != lethe.NoTimestep && s.needed < a.l.served {
			// What is served had a timestep that is gone: whoever scores has dropped what is the newest again.
			if err := s.sayAgain(s.needed); err != nil {
				return fmt.Errorf("model %d after timestep %d: %w", s.number, s.needed, err)
			}
		}
		for _, t := range s.kept {
			key := wire.Key{Kind: wire.KindModel, Shard: s.number, Timestep: t}
			if a.l.owns(s) && t >= s.needed && !holds[key] && !slices.Contains(s.unsent, t) {
				if err := s.restate(t); err != nil {
					return fmt.Errorf("model %d after timestep %d: %w", s.number, t, err)
				}
			}
		}
	}
	return nil
}

// modelsIn are the models that their topic holds.
func modelsIn(ctx context.Context, topics role.Bus) (map[wire.Key]bool, error) {
	holds, firstChunk := make(map[wire.Key]bool), []byte("/0")
	return holds, topics.ReadAll(ctx, bus.Models, func(rec ingest.Record) error {
		if key, _, of := wire.PartOf(rec); of && bytes.HasSuffix(rec.Key, firstChunk) {
			holds[key] = !rec.Tombstone()
		}
		return nil
	})
}

// compare compares an offer with the model of its timestep that is here, and reports whether they are the same.
// Where they are not, and this process owns the model, the topic is told again what is here: the offer's maker
// took the model for his, and has not read the slices that are here.
func (a *adoption) compare(s *series, o *offer) (same bool, err error) {
	t := o.Key.Timestep
	value, err := s.value(t)
	if err != nil {
		return false, err
	}
	own, err := a.lineageOf(s, value)
	switch {
	case err != nil:
		return false, err
	case own == o.lineage:
		return true, s.published(t)
	case a.l.owns(s) && o.Revision <= a.revisionOf(s, t):
		return false, s.restate(t)
	default:
		return false, nil
	}
}

// revisionOf returns that of the slices which a model of a timestep is made of.
func (a *adoption) revisionOf(s *series, t lethe.Timestep) lethe.Revision {
	if s.component == overall {
		return a.l.columns.revision(t)
	}
	return a.l.models[s.number].shards.revision(t)
}

// lineageOf returns what a value was made of.
func (a *adoption) lineageOf(s *series, value []byte) (lethe.Digest, error) {
	if s.component == overall {
		m, err := meta.Decode(value)
		if err != nil {
			return lethe.Digest{}, err
		}
		return m.Lineage, nil
	}
	checkpoint, err := trainer.DecodeCheckpoint(value)
	if err != nil {
		return lethe.Digest{}, err
	}
	return checkpoint.Lineage, a.l.runner.Engine(s.number).Compatible(checkpoint)
}

// fits reports whether a lineage is that of the slices that are here.
func (a *adoption) fits(s *series, t lethe.Timestep, lineage lethe.Digest) (bool, error) {
	if err := a.learn(t); err != nil {
		return false, err
	}
	all, known := a.lineages.At(t)
	return known && all[s.number] == lineage, nil
}

// learn tells the lineages of the slices up to a timestep.
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
