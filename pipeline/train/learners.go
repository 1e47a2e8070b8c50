package train

import (
	"encoding/binary"
	"fmt"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/pipeline/journal"
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
	// served is the timestep of the served models, or NoTimestep; servedAt is the entry of the journal that names it.
	served   lethe.Timestep
	servedAt journal.Place
	share    *share
	topic    topic
	// setup is the digest of the training setup; setupCommitted: it was published.
	setup          lethe.Digest
	setupCommitted bool
}

// owns reports whether this process makes and publishes a model.
func (l *learners) owns(number lethe.ShardID) bool { return l.share.owns(l.shardOf(number)) }

// shardOf returns a model's first shard, whose owner has the model. The meta-model, and models that the ensemble no
// longer has, are the first shard's.
func (l *learners) shardOf(number lethe.ShardID) lethe.ShardID {
	if int(number) >= len(l.models) {
		return 0
	}
	return l.layout.ShardsOf(number)[0]
}

// serve stores the timestep of the served models, as an entry of the journal at a place names it. The journal is read
// from its start whenever the role is opened: entries that are stored already would make models needed that are
// thinned out.
func (l *learners) serve(through lethe.Timestep, at journal.Place) error {
	if !at.Behind(l.servedAt) {
		return nil
	}
	value := at.AppendTo(binary.BigEndian.AppendUint64(nil, uint64(through)))
	err := swapstore.Set(l.columns[0].store, []byte(servedKey), value)
	if err != nil {
		return fmt.Errorf("store the served timestep: %w", err)
	}
	if l.servedAt = at; through == l.served {
		return nil
	}
	l.served = through
	for _, s := range l.all() {
		s.republished = false
	}
	return nil
}

// dropUnneeded drops values that no score waits for: all of models fitted from scratch, and all but milestones of
// continued ones.
func (l *learners) dropUnneeded() error {
	needed := l.columns.upTo(l.served)
	for _, s := range l.all() {
		s.needed = needed
		if !s.onDemand || needed == lethe.NoTimestep {
			continue
		}
		if err := s.dropBefore(needed); err != nil {
			return fmt.Errorf("model %d: drop checkpoints before timestep %d: %w", s.number, needed, err)
		}
	}
	// With several trainers, a new owner continues from what it adopted.
	for _, m := range l.models {
		if m.onDemand || l.share.sharer != nil {
			continue
		}
		if err := m.thinOut(l.topic[m.number]); err != nil {
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
	return out
}

// seriesOf returns the series of a number, or nil if the ensemble has no such model.
func (l *learners) seriesOf(number lethe.ShardID) *series {
	switch {
	case int(number) < len(l.models):
		return l.models[number].series
	case int(number) == len(l.models) && l.over != nil:
		return l.over.series
	default:
		return nil
	}
}
