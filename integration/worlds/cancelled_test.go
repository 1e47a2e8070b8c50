package worlds

import (
	"context"
	"math/rand/v2"
	"slices"

	"lethe"
	"lethe/deletions"
)

// cancelled draws that a request is taken back.
func (d *drawing) cancelled(chance *rand.Rand) {
	var asked []int
	for i, e := range d.events {
		if e.request != nil {
			asked = append(asked, i)
		}
	}
	if len(asked) > 0 {
		at := asked[chance.IntN(len(asked))]
		back := at + 1 + chance.IntN(len(d.events)-at)
		d.insert(back, operation{cancel: d.events[at].request})
		d.uncorrected(d.events[at].request, back)
	}
}

// uncorrected removes what comes before a request is taken back and would count in place of what is sent again then,
// which comes behind it, so that the outcome is another one than if nothing had been dropped: records that have the
// key of one that carries a subject of the request, and do not carry it, and those of its transactions at another
// timestep, of which the first counts.
func (d *drawing) uncorrected(request *lethe.ErasureRequest, back int) {
	before := d.events[:back]
	counts := func(i int, e event, target lethe.Target) bool {
		if target.Kind != lethe.SubjectTarget {
			return e.moved != 0 && target.Transaction == e.names[0]
		}
		return (!e.carries(target) || e.moved != 0) && slices.ContainsFunc(before[:i], func(other event) bool {
			return other.carries(target) && other.place() == e.place()
		})
	}
	var kept []event
	for i, e := range before {
		if e.request != nil || e.operation != nil || !slices.ContainsFunc(request.Targets, func(target lethe.Target) bool {
			return counts(i, e, target)
		}) {
			kept = append(kept, e)
		}
	}
	d.events = slices.Concat(kept, d.events[back:])
}

// sendAgain sends once more what came for the targets of a request before it was taken back,
// for that may have been dropped, or taken without the features. What who leads had dealt with as the request was sent
// was not.
func (s *simulation) sendAgain(ctx context.Context, at int) error {
	request := s.world.events[at].operation.cancel
	if err := s.takenBack(ctx); err != nil {
		return err
	}
	statuses, err := s.current.statuses(ctx)
	if err != nil || statuses[request.RequestID].State != deletions.Cancelled {
		return err
	}
	var gone []lethe.Target
	for _, target := range request.Targets {
		gone = append(gone, s.world.with(target)...)
	}
	for _, e := range s.world.events[:at] {
		if e.operation == nil && slices.ContainsFunc(gone, e.concerns) && !s.current.topics.log.has(request.RequestID, e) {
			e.opens = false // what ends the transaction that it was in is not sent again
			if err := s.send(ctx, e); err != nil {
				return err
			}
		}
	}
	return nil
}

// takenBack lets the roles come to what was taken back. Where one of several leads, another one may
// have to take over first.
func (s *simulation) takenBack(ctx context.Context) error {
	for range 3 {
		if len(s.current.groups) > 0 {
			if err := s.gather(ctx); err != nil {
				return err
			}
			if err := s.current.tick(ctx, tickInterval); err != nil {
				return err
			}
		}
		if _, err := s.current.rest(ctx); err != nil {
			return err
		}
		if err := s.restart(ctx); err != nil {
			return err
		}
	}
	return nil
}

// tookBack reports whether a request was taken back that names the transaction of a target, or a
// subject that it carries, and so may have dropped what another one looks for.
func (w world) tookBack(target lethe.Target) bool {
	same := func(other lethe.Target) bool {
		return other.Name() == target.Name() || other.Transaction == target.Transaction && other.Transaction != ""
	}
	return slices.ContainsFunc(w.events, func(e event) bool {
		return e.operation != nil && e.operation.cancel != nil &&
			slices.ContainsFunc(e.operation.cancel.Targets, func(named lethe.Target) bool {
				return slices.ContainsFunc(w.with(named), same)
			})
	})
}
