package train

import (
	"fmt"
	"slices"

	"lethe"
	"lethe/internal/sortedset"
	"lethe/internal/swapstore"
	"lethe/pipeline/wire"
)

// publishedTogether bounds the values in memory for publication.
const publishedTogether = 16

// pending is what a topic gets next: deletions of withdrawn values, or new values and deletions of those no score
// waits for.
type pending struct{ withdrawn, absent, values []lethe.Timestep }

func (s *series) pending() pending {
	if len(s.withdrawn) > 0 {
		return pending{withdrawn: s.withdrawn}
	}
	older, _ := slices.BinarySearch(s.kept, s.needed)
	first, _ := slices.BinarySearch(s.unsent, s.needed)
	values := s.unsent[first:]
	return pending{
		absent: without(slices.Clone(s.kept[:older]), s.absent),
		values: values[:min(len(values), publishedTogether)],
	}
}

func (s *series) unpublished() bool {
	next := s.pending()
	return len(next.withdrawn)+len(next.absent)+len(next.values) > 0
}

// due are the next messages. place returns a timestep's revision and whether it is the newest.
func (s *series) due(place func(lethe.Timestep) (lethe.Revision, bool)) ([]wire.Message, error) {
	var out []wire.Message
	key := func(t lethe.Timestep) wire.Key { return wire.Key{Kind: wire.KindModel, Shard: s.number, Timestep: t} }
	next := s.pending()
	for _, t := range slices.Concat(next.withdrawn, next.absent) {
		out = append(out, wire.Message{Key: key(t), Deleted: true})
	}
	for _, t := range next.values {
		value, err := s.unpublishedValue(t)
		if err != nil {
			return nil, err
		}
		revision, last := place(t)
		out = append(out, wire.Message{Key: key(t), Revision: revision, Last: last, Payload: value})
	}
	return out, nil
}

// unpublishedValue is value, or the fresh one.
func (s *series) unpublishedValue(t lethe.Timestep) ([]byte, error) {
	if at := slices.IndexFunc(s.fresh, func(step learnt) bool { return step.at == t }); at >= 0 {
		return s.fresh[at].value, nil
	}
	return s.value(t)
}

// sent records that due was published.
func (s *series) sent() error {
	next := s.pending()
	err := s.store.Apply(func(w swapstore.Writer) error {
		for _, t := range next.withdrawn {
			w.Delete(learntKey(withdrawnPrefix, t, s.component))
		}
		for _, t := range next.absent {
			w.Set(learntKey(unsentPrefix, t, s.component), absentMark())
		}
		for _, t := range next.values {
			w.Delete(learntKey(unsentPrefix, t, s.component))
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("model %d: note what was published: %w", s.number, err)
	}
	s.withdrawn = without(slices.Clone(s.withdrawn), next.withdrawn)
	s.absent = without(sortedset.Of(slices.Concat(s.absent, next.absent)), next.values)
	s.unsent = without(sortedset.Of(slices.Concat(s.unsent, next.absent)), next.values)
	s.again = without(s.again, slices.Concat(next.absent, next.values))
	s.fresh = nil
	return nil
}
