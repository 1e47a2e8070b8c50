package train

import (
	"encoding/binary"
	"fmt"
	"slices"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/pipeline/wire"
	"lethe/scoring/ensemble"
	"lethe/scoring/meta"
)

// learners are the slices by shard, the models and the meta-model.
type learners struct {
	layout ensemble.Layout
	// meta and over are nil without a meta-model.
	meta    *meta.Config
	dir     string
	kernels string
	columns shards
	models  []*model // by number
	over    *overModels
	// former are models no longer in the ensemble, to be deleted from their topic.
	former []*series
	// served is the timestep of the served models, or NoTimestep.
	served lethe.Timestep
	// share is nil without other trainers.
	share *share
}

// owns reports whether this process makes and publishes a series.
func (l *learners) owns(s *series) bool { return l.share == nil || l.share.owns(l.shardOf(s.number)) }

// shardOf returns a model's first shard, whose owner has the model. The meta-model and former models are the first
// shard's.
func (l *learners) shardOf(number lethe.ShardID) lethe.ShardID {
	if int(number) >= len(l.models) {
		return 0
	}
	return l.layout.ShardsOf(number)[0]
}

// serve stores the timestep of the served models.
func (l *learners) serve(through lethe.Timestep) error {
	if through == l.served {
		return nil
	}
	value := binary.BigEndian.AppendUint64(nil, uint64(through))
	err := swapstore.Set(l.columns[0].store, []byte(servedKey), value)
	if err != nil {
		return fmt.Errorf("note which models are served: %w", err)
	}
	l.served = through
	return nil
}

// dropUnneeded drops values that no score waits for: all of models fitted from scratch, and all but milestones of
// continued ones.
func (l *learners) dropUnneeded() error {
	needed := l.columns.upTo(l.served)
	for _, s := range l.all() {
		s.needed = needed
		if !s.anew || needed == lethe.NoTimestep {
			continue
		}
		if err := s.dropBefore(needed); err != nil {
			return fmt.Errorf("model %d: drop checkpoints before timestep %d: %w", s.number, needed, err)
		}
	}
	// With several trainers, a new owner continues from what it adopted.
	for _, m := range l.models {
		if m.anew || l.share != nil {
			continue
		}
		if err := m.thinOut(); err != nil {
			return fmt.Errorf("model %d: thin out the checkpoints before timestep %d: %w", m.number, needed, err)
		}
	}
	return nil
}

// all are the series of everything learnt.
func (l *learners) all() []*series {
	var out []*series
	for _, m := range l.models {
		out = append(out, m.series)
	}
	if l.over != nil {
		out = append(out, l.over.series)
	}
	return append(out, l.former...)
}

// unpublished reports whether an owned value is to be published.
func (l *learners) unpublished() bool {
	return slices.ContainsFunc(l.all(), func(s *series) bool { return s.unpublished() && l.owns(s) })
}

// seriesOf returns the series of a message, or nil.
func (l *learners) seriesOf(key wire.Key) *series {
	switch {
	case key.Kind != wire.KindModel:
		return nil
	case int(key.Shard) < len(l.models):
		return l.models[key.Shard].series
	case int(key.Shard) == len(l.models) && l.over != nil:
		return l.over.series
	default:
		return nil
	}
}
