package audit

import (
	"bytes"
	"fmt"

	"lethe"
	"lethe/canonical"
	"lethe/pipeline/train"
	"lethe/scoring"
	"lethe/scoring/ensemble"
	"lethe/scoring/meta"
	"lethe/trainer"
)

// learnt is the content of train's stores.
type learnt struct {
	layout ensemble.Layout
	// over is nil without a meta-model.
	over    *meta.Config
	columns []*train.History
	// served is the timestep that the served models were trained through, or NoTimestep.
	served lethe.Timestep
}

func (inv *inventory) learnt() learnt {
	return learnt{inv.layout, inv.over, inv.columns, inv.served.Through}
}

// models returns the numbers of the models.
func (l learnt) models() []lethe.ShardID {
	out := make([]lethe.ShardID, l.layout.Models())
	for i := range out {
		out[i] = lethe.ShardID(i)
	}
	return out
}

// named returns the name of a model by its number.
func (l learnt) named(number lethe.ShardID) string {
	component, in := l.layout.Place(number)
	if len(l.layout.Components) == 1 && l.layout.Components[0].Groups == l.layout.Shards {
		return fmt.Sprintf("shard %d", number)
	}
	return fmt.Sprintf("component %s, group %d", l.layout.Components[component].Config.Model, in)
}

// home is the store of a model's data.
func (l learnt) home(number lethe.ShardID) *train.History {
	return l.columns[l.layout.ShardsOf(number)[0]]
}

// checkpoints returns those of a model, by timestep.
func (l learnt) checkpoints(number lethe.ShardID) map[lethe.Timestep][]byte {
	component, _ := l.layout.Place(number)
	return l.home(number).Learnt[component]
}

// adopts reports whether some of a model's checkpoints were made by other processes, whose earlier
// checkpoints are not here.
func (l learnt) adopts(number lethe.ShardID) bool {
	component, _ := l.layout.Place(number)
	return l.home(number).Adopted[component]
}

// kept reports whether the checkpoint after a timestep must exist: the served ones and newer ones, which score may
// request, and the milestones of a model that continues from its previous one.
func (l learnt) kept(anew bool, t lethe.Timestep) bool {
	return l.served == lethe.NoTimestep || t >= l.served || !anew && train.Milestone(l.columns[0].Timesteps, t)
}

// awaited reports whether a model has yet to learn from a timestep: training processes timesteps in order,
// and served ones have been learned.
func (l learnt) awaited(checkpoints map[lethe.Timestep][]byte, t lethe.Timestep) bool {
	for later := range checkpoints {
		if later >= t {
			return false
		}
	}
	return !l.isServed(t)
}

// comes reports whether a slice has yet to arrive at train: slices arrive in order, too.
func (l learnt) comes(shard lethe.ShardID, t lethe.Timestep) bool {
	here := l.columns[shard].Timesteps
	return (len(here) == 0 || here[len(here)-1] < t) && !l.isServed(t)
}

func (l learnt) isServed(t lethe.Timestep) bool { return l.served != lethe.NoTimestep && t <= l.served }

// lineages returns the chain of slices that every checkpoint must have learned from.
func (l learnt) lineages() *ensemble.Lineages {
	known := ensemble.NewLineages(l.layout, l.over)
	previous := lethe.NoTimestep
	for _, t := range l.columns[0].Timesteps {
		digests := make([]lethe.Digest, len(l.columns))
		for shard, h := range l.columns {
			digests[shard] = h.Slices[t]
		}
		known.Learn(t, previous, digests)
		previous = t
	}
	return known
}

// checkCheckpoints checks that every slice has a checkpoint whose lineage is the chain of the
// slices, and checks the meta-model over them.
func (l learnt) checkCheckpoints(r *Report) {
	lineages := l.lineages()
	for _, number := range l.models() {
		checkpoints := l.checkpoints(number)
		for _, t := range l.home(number).Timesteps {
			data, found := checkpoints[t]
			if !found && l.awaited(checkpoints, t) {
				r.untrained(t)
				continue
			}
			if !found {
				if l.kept(l.layout.Config(number).Schedule == trainer.Window || l.adopts(number), t) {
					r.problem("%s: no checkpoint after timestep %d", l.named(number), t)
				}
				continue
			}
			r.Checkpoints++
			c, err := trainer.DecodeCheckpoint(data)
			want, known := lineages.At(t)
			switch {
			case err != nil:
				r.problem("%s: checkpoint after timestep %d: %v", l.named(number), t, err)
			case !known || c.Lineage != want[number]:
				r.problem("%s: the checkpoint after timestep %d was not trained on the stored slices", l.named(number), t)
			}
		}
	}
	if l.over != nil {
		l.checkMeta(r, lineages)
	}
}

// checkMeta checks that the meta-models were learned over the stored models.
func (l learnt) checkMeta(r *Report, lineages *ensemble.Lineages) {
	home := l.columns[0]
	for _, t := range home.Timesteps {
		data, found := home.Learnt[train.Meta][t]
		if !found && l.awaited(home.Learnt[train.Meta], t) {
			r.untrained(t)
			continue
		}
		if !found {
			if l.kept(true, t) {
				r.problem("no meta-model after timestep %d", t)
			}
			continue
		}
		m, err := meta.Decode(data)
		want, known := lineages.At(t)
		switch {
		case err != nil:
			r.problem("meta-model after timestep %d: %v", t, err)
		case !known || m.Lineage != want[len(want)-1]:
			r.problem("the meta-model after timestep %d was not learnt over the stored models", t)
		}
	}
}

// checkServed checks that the served models are the trained ones.
func (inv *inventory) checkServed(r *Report) {
	s, l := inv.served, inv.learnt()
	if s.Through == lethe.NoTimestep {
		return
	}
	r.EnsembleHash = s.Version.String()
	digests := make([]lethe.Digest, len(s.Checkpoints))
	for number, data := range s.Checkpoints {
		digests[number] = canonical.DigestOf(data)
		if !bytes.Equal(data, l.checkpoints(lethe.ShardID(number))[s.Through]) {
			r.problem("%s: the served model is not the checkpoint after timestep %d", l.named(lethe.ShardID(number)),
				s.Through)
		}
	}
	if s.Meta != nil {
		digests = append(digests, canonical.DigestOf(s.Meta))
		if !bytes.Equal(s.Meta, l.columns[0].Learnt[train.Meta][s.Through]) {
			r.problem("the served meta-model is not that after timestep %d", s.Through)
		}
	}
	if scoring.EnsembleVersion(digests) != s.Version {
		r.problem("the ensemble's hash is not that of its models")
	}
}
