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

// learners is all that learns from slices: the slices by shard, the models over them,
// and the meta-model over those.
type learners struct {
	layout ensemble.Layout
	// meta is nil for ensembles without a meta-model.
	meta *meta.Config
	dir  string
	// kernels is the name of the kernel set.
	kernels string
	columns shards
	models  []*model // by number
	// over is nil for ensembles without a meta-model.
	over *overModels
	// former are models that the ensemble no longer has, to be deleted from their topic.
	former []*series
	// served is the timestep through which the served models are, or NoTimestep.
	served lethe.Timestep
	// share is nil where nobody else trains.
	share *share
}

// owns reports whether this process makes a model, or the meta-model, and publishes it.
func (l *learners) owns(s *series) bool { return l.share == nil || l.share.owns(l.shardOf(s.number)) }

// shardOf returns the first shard that a model learns from, which says whose it is: who has
// the shard has the model. The meta-model and models of former ensembles go with the first.
func (l *learners) shardOf(number lethe.ShardID) lethe.ShardID {
	if int(number) >= len(l.models) {
		return 0
	}
	return l.layout.ShardsOf(number)[0]
}

// serve takes in through which timestep the served models are.
func (l *learners) serve(through lethe.Timestep) error {
	if through == l.served {
		return nil
	}
	value := binary.BigEndian.AppendUint64(nil, uint64(through))
	err := l.columns[0].store.Apply(func(w swapstore.Writer) error { return w.Set([]byte(servedKey), value) })
	if err != nil {
		return fmt.Errorf("note which models are served: %w", err)
	}
	l.served = through
	return nil
}

// dropUnneeded tells every series which timesteps a score may wait for. What was learnt
// for older ones is unlinked where it is made anew for each, and thinned out where it goes on from the one before.
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
	// Where several processes train, one that takes a model over goes on from what it has adopted.
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

// all are the series of everything that is learnt.
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

// unpublished reports whether a checkpoint waits to be published.
func (l *learners) unpublished() bool {
	return slices.ContainsFunc(l.all(), func(s *series) bool { return s.unpublished() && l.owns(s) })
}

// seriesOf returns what a message of models.v1 is of, or nil.
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
