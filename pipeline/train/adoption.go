package train

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"lethe"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
	"lethe/scoring/ensemble"
)

// adoption takes over what other processes have made, once the slices here are those that it
// was made of: its lineage says so. Until then it waits in memory, for slices may come later
// than the models that were made of them.
//
// Slices may also change after a model was adopted, and become again what they were. Its owner may
// have made it again before they were read here, and does not publish it once more. So the lineage of
// what was adopted is remembered, and what is missing then is trained here: it has the same bytes.
type adoption struct {
	l *logic
	// offers are the newest messages of models.v1, by key, without their payload once they were
	// adopted. missing are those of the latter that would fit and are not here any more.
	offers  map[wire.Key]*offer
	missing map[wire.Key]bool
	// lineages are those that models must have, as far as they were asked for, and known the
	// timesteps that they have been told of.
	lineages *ensemble.Lineages
	known    map[lethe.Timestep]bool
	// changes counts changes of slices, and of what this process has, after which an offer may fit, or be to be
	// put right, that was not.
	changes int
	// gone are timesteps whose slices were removed.
	gone map[lethe.Timestep]bool
}

// offer is a model that somebody else has made.
type offer struct {
	wire.Received
	lineage lethe.Digest
	adopted bool
	// tried is the count of changes at which it did not fit.
	tried int
	// withdrawn says that the topic is told to hold it no longer.
	withdrawn bool
}

func newAdoption(l *logic) *adoption {
	a := &adoption{
		l: l, offers: make(map[wire.Key]*offer), lineages: ensemble.NewLineages(l.layout, l.meta),
		known: make(map[lethe.Timestep]bool), missing: make(map[wire.Key]bool), gone: make(map[lethe.Timestep]bool),
	}
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
	a.changes++
	return nil
}

// withdraw implements learner. What is gone is unlearnt as well, and each series has its topic told so.
func (a *adoption) withdraw(t, _ lethe.Timestep) error {
	a.gone[t] = true
	return nil
}

// take notes what models.v1 says. Of its own models this process knows; what others say of
// them who have lost them is put right.
func (a *adoption) take(in role.Input) error {
	for _, m := range in.Messages {
		s := a.l.seriesOf(m.Key)
		if s == nil {
			continue
		}
		shard := a.l.shardOf(s.number)
		if err := a.takeOne(s, shard, m); errors.Is(err, wire.ErrPayload) {
			a.l.o.PassOver(roleName, in.Batch.Source.Topic, m)
		} else if err != nil {
			return err
		}
	}
	return nil
}

func (a *adoption) takeOne(s *series, shard lethe.ShardID, m wire.Received) error {
	owns, t := a.l.share.owns(shard), m.Key.Timestep
	switch {
	case m.Deleted && owns:
		a.forget(m.Key)
		if s.holds(t) && t >= s.needed && !slices.Contains(s.unsent, t) {
			return s.restate(t)
		}
		return nil
	case m.Deleted:
		a.forget(m.Key)
		return s.deletedByOwner(t)
	case m.Stale:
		if err := a.overwritten(s, m.Key, owns); err != nil {
			return err
		}
	default:
		a.l.share.hear(shard, m.Owner)
	}
	own := owns && m.Owner == a.l.share.ownerOf(shard)
	lineage, known := s.lineages[t]
	if !own || !known {
		var err error
		if lineage, err = a.lineageOf(s, m.Payload); err != nil {
			return fmt.Errorf("message %s: %w: %w", m.Key, wire.ErrPayload, err)
		}
	}
	a.offers[m.Key] = &offer{Received: m, lineage: lineage, tried: -1}
	if own {
		a.offers[m.Key].done()
	}
	return nil
}

// overwritten notes that somebody who had lost a model published it: what its owner said before is not there any
// more. Unless it is the same, which its lineage tells, whoever has the model says it again, now or once it has it.
func (a *adoption) overwritten(s *series, key wire.Key, owns bool) error {
	if owns {
		a.l.o.Logger.Warn("train: a process that has lost a model published it; unless it is the same, it is published again",
			"model", s.number, "timestep", key.Timestep)
	}
	a.forget(key)
	return s.restate(key.Timestep)
}

// forget drops what models.v1 has no more.
func (a *adoption) forget(key wire.Key) {
	delete(a.offers, key)
	delete(a.missing, key)
}

// done forgets the payload of an offer: it is here, or was made here.
func (o *offer) done() { o.adopted, o.Payload = true, nil }

// misses reports whether an adopted model of a series that fits is not here any more. Its maker will
// not publish it again, so it is made here.
func (a *adoption) misses(s *series) bool {
	return a != nil && a.missesBefore(s, math.MaxInt64)
}

// missesBefore reports whether a model of a series is missing that one goes on from.
func (a *adoption) missesBefore(s *series, t lethe.Timestep) bool {
	for key := range a.missing {
		if a.l.seriesOf(key) == s && key.Timestep < t && !s.holds(key.Timestep) {
			return true
		}
	}
	return false
}

// adopt stores what fits the slices that are here.
func (a *adoption) adopt() error {
	if err := a.withdrawUnneeded(); err != nil {
		return err
	}
	for before := a.changes - 1; before != a.changes; {
		before = a.changes
		if err := a.adoptOffers(); err != nil {
			return err
		}
	}
	return nil
}

// withdrawUnneeded has the topic told to hold no longer what is made anew for each timestep and was made for
// one that no score waits for any more, and what is of a timestep that is gone. Whoever published it had to say so,
// and may have been replaced before he did, the mark is in his store, or have published it late.
func (a *adoption) withdrawUnneeded() error {
	unneeded := func(o *offer) bool {
		s, t := a.l.seriesOf(o.Key), o.Key.Timestep
		return !o.withdrawn && a.l.owns(s) && (s.anew && s.needed != lethe.NoTimestep && t < s.needed ||
			!s.holds(t) && a.l.columns.lack(t, a.gone[t]))
	}
	for _, o := range a.offersThat(unneeded) {
		if err := a.l.seriesOf(o.Key).restate(o.Key.Timestep); err != nil {
			return fmt.Errorf("withdraw model %d after timestep %d: %w", o.Key.Shard, o.Key.Timestep, err)
		}
		o.withdrawn = true
	}
	return nil
}

// offersThat are those that something holds of, the oldest timestep first.
func (a *adoption) offersThat(holds func(*offer) bool) []*offer {
	var out []*offer
	for _, o := range a.offers {
		if holds(o) {
			out = append(out, o)
		}
	}
	slices.SortFunc(out, func(x, y *offer) int {
		return cmp.Or(cmp.Compare(x.Key.Timestep, y.Key.Timestep), cmp.Compare(x.Key.Shard, y.Key.Shard))
	})
	return out
}

// adoptOffers tries all offers that may fit now and did not before.
func (a *adoption) adoptOffers() error {
	for _, o := range a.offersThat(func(o *offer) bool { return o.tried != a.changes }) {
		done, err := a.adoptOne(a.l.seriesOf(o.Key), o)
		if err != nil {
			return fmt.Errorf("adopt model %d after timestep %d: %w", o.Key.Shard, o.Key.Timestep, err)
		}
		o.tried = a.changes
		if done {
			o.done()
		}
	}
	return nil
}

// stillHere notes whether an adopted offer that fits is here.
func (a *adoption) stillHere(s *series, o *offer) error {
	delete(a.missing, o.Key)
	if s.holds(o.Key.Timestep) || s.anew && s.needed != lethe.NoTimestep && o.Key.Timestep < s.needed {
		return nil
	}
	fits, err := a.fits(s, o.Key.Timestep, o.lineage)
	if err != nil || !fits {
		return err
	}
	a.missing[o.Key] = true
	return a.unlearnBehind(s, o.Key.Timestep)
}

// unlearnBehind removes what a model that goes on from step to step has behind one that is missing: it was adopted
// later, and nothing would be trained before it. All of it is made here then, one after the other.
func (a *adoption) unlearnBehind(s *series, t lethe.Timestep) error {
	if s.anew || s.component == overall || s.newest() < t {
		return nil
	}
	if err := s.removeFrom(t); err != nil {
		return err
	}
	a.changes++
	return a.l.models[s.number].stand()
}

// adoptOne stores an offer if it is what would be made here.
func (a *adoption) adoptOne(s *series, o *offer) (done bool, err error) {
	t := o.Key.Timestep
	if o.adopted {
		return true, a.stillHere(s, o)
	}
	if s.holds(t) {
		return a.compare(s, o)
	}
	fits, err := a.fits(s, t, o.lineage)
	if err != nil || !fits {
		return false, err
	}
	if s.anew && s.needed != lethe.NoTimestep && t < s.needed {
		return true, nil
	}
	if !s.anew && a.missesBefore(s, t) {
		return true, a.stillHere(s, o) // it is made here, once those before it are
	}
	if err := s.adopt(learnt{t, o.Payload, o.lineage}); err != nil {
		return false, err
	}
	if s.component != overall && t == s.newest() {
		return true, a.l.models[s.number].stand()
	}
	return true, nil
}
