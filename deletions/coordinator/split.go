package coordinator

import (
	"context"
	"slices"

	"lethe/deletions"
	"lethe/pipeline/wire"
)

// Another role counts what its search of a batch has found, and does not say whose it is. Such a batch is
// tried again in halves, each searched under its own leader, until a request of which something is found
// is alone. The others end without it.

// splits are the leaders of batches to split before they are tried again. After a restart a batch is split
// once its next try has failed.
type splits map[string]bool

// note marks a batch of several requests.
func (p splits) note(b batch) {
	if len(b.members) > 1 {
		p[b.leader] = true
	}
}

// halves returns the members of a batch with the leader of each. The half that the leader is in keeps it.
func (b batch) halves() map[string]string {
	first, second := b.members[:len(b.members)/2], b.members[len(b.members)/2:]
	isLeader := func(e deletions.Entry) bool { return e.RequestID == b.leader }
	if slices.ContainsFunc(second, isLeader) {
		first, second = second, first
	}
	leaders := make(map[string]string, len(b.members))
	for _, e := range first {
		leaders[e.RequestID] = b.leader
	}
	for _, e := range second {
		leaders[e.RequestID] = second[0].RequestID
	}
	return leaders
}

// retry moves a failed batch back to the state that it failed in, in halves if it is to be split, and
// commands each. It returns those of the batch's leader.
func (s *states) retry(ctx context.Context, b batch) (batch, error) {
	var leaders map[string]string
	if s.splits[b.leader] && len(b.members) > 1 {
		leaders = b.halves()
	}
	delete(s.splits, b.leader)
	members, err := s.o.Ledger.RetryAll(b.ids(), func(e *deletions.Entry) {
		if leader, moves := leaders[e.RequestID]; moves {
			e.Batch.Leader = leader
		}
	})
	if err != nil {
		return b, err
	}
	if err := s.out.announce(ctx, members...); err != nil {
		return b, err
	}
	phase := wire.PhasePurge
	if members[0].State == deletions.Erased {
		phase = wire.PhaseSearch
	}
	own := batch{leader: b.leader}
	commanded := make(map[string]bool)
	for _, e := range members {
		if e.Leader() == b.leader {
			own.members = append(own.members, e)
		} else {
			s.dirty = true
		}
		if commanded[e.Leader()] {
			continue
		}
		commanded[e.Leader()] = true
		if err := s.out.command(ctx, e.Leader(), phase); err != nil {
			return b, err
		}
	}
	return own, nil
}
