package worlds

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// uncommitted draws records of aborted transactions before the first request: copies of some that are sent as well.
// What comes in one later is read by nobody, and the cleaner's to remove.
func (d *drawing) uncommitted(chance *rand.Rand) {
	if chance.IntN(2) == 0 {
		return
	}
	var list []event
	for _, e := range d.events {
		if e.request == nil && len(e.names) > 0 {
			list = append(list, e)
		}
	}
	for n := 1 + chance.IntN(3); n > 0 && len(list) > 0; n-- {
		aborted := list[chance.IntN(len(list))]
		first := slices.IndexFunc(d.events, func(e event) bool { return e.request != nil || e.operation != nil })
		d.insert(chance.IntN(max(first, 0)+1), operation{aborted: &aborted})
	}
}

// rejected draws requests that are no requests of their own: a second one under the name of another, one that was sent
// before, one whose name holds what it names, and some that cannot be read. All name what another one erases.
func (d *drawing) rejected(chance *rand.Rand) {
	var list []*lethe.ErasureRequest
	for _, e := range d.events {
		if e.request != nil {
			list = append(list, e.request)
		}
	}
	if len(list) == 0 {
		return
	}
	for n := chance.IntN(3); n > 0; n-- {
		like := list[chance.IntN(len(list))]
		asked, conflicts := d.alike(like, chance)
		at := slices.IndexFunc(d.events, func(e event) bool { return e.request == like })
		d.insert(at+1+chance.IntN(len(d.events)-at), operation{asked: &asked, conflicts: conflicts})
	}
}

// alike is a request beside another one. It conflicts with that if it has other targets under the same name.
func (d *drawing) alike(like *lethe.ErasureRequest, chance *rand.Rand) (_ ingest.Outgoing, conflicts bool) {
	other, name := *like, string(neverNamed)
	for _, t := range like.Targets {
		if t.Kind == lethe.TransactionTarget {
			name = string(t.Transaction)
		}
	}
	switch chance.IntN(5) {
	case 0: // the same once more
	case 1:
		other.Targets, conflicts = lethe.Transactions("another-one", lethe.TransactionID(name)), true
	case 2:
		// Its name holds the id of a transaction that is never sent.
		other.RequestID, other.Targets = "gdpr-absent-1", lethe.Transactions("absent-1", lethe.TransactionID(name))
	case 3:
		value := fmt.Appendf(nil, `{"type":"erasure","request_id":"malformed","nodes":[%s],"scope":"nonsense"}`, quoted(name))
		return ingest.Outgoing{Key: []byte("malformed"), Value: value}, false
	default:
		value := fmt.Appendf(nil, `{"type":"erasure","request_id":"cut","nodes":["%s`, spelled(lethe.TransactionID(name)))
		return ingest.Outgoing{Key: []byte("cut"), Value: value}, false
	}
	key, value, err := ingest.EncodeErasure(other, time.Time{})
	if err != nil {
		d.Fatal(err)
	}
	return ingest.Outgoing{Key: key, Value: value}, conflicts
}

// ask publishes a request that is not carried out. One that conflicts with another is published once that one is read:
// compaction may remove what a record of the same key replaces, and then nobody has read the first.
func (s *simulation) ask(ctx context.Context, o operation) error {
	for idle := 0; o.conflicts && idle <= 3; idle++ {
		statuses, err := s.current.statuses(ctx)
		if err != nil {
			return err
		}
		if _, read := statuses[string(o.asked.Key)]; read {
			break
		}
		busy, err := s.current.poll(ctx)
		if err != nil {
			return err
		}
		if err := s.restart(ctx); err != nil {
			return err
		}
		if busy {
			idle = 0
		}
	}
	return s.say(ctx, o.asked.Key, o.asked.Value, nil)
}

// abort writes a record in a transaction that is aborted.
func (s *simulation) abort(ctx context.Context, e event) error {
	s.current.disk.mu.Lock()
	defer s.current.disk.mu.Unlock()
	for _, d := range []*deployment{s.successor, s.current} {
		if d == nil {
			continue
		}
		d.topics.log.sent[e.topic]++
		if err := d.topics.WriteAborted(ctx, e.topic, []ingest.Outgoing{e.record}); err != nil {
			return err
		}
	}
	return nil
}

// told checks that no status says what the ledger does not hold, and no receipt is of a request that is not verified
// there. An answer to a request that is not the one of its name is about what the ledger has under that name, or says
// that the request is rejected.
func (d *deployment) told(ctx context.Context, s *state) error {
	entries := make(map[string]deletions.Entry)
	for _, e := range s.ledger {
		entries[e.RequestID] = e
	}
	for id, r := range s.receipts {
		if e, known := entries[id]; !known || e.State != deletions.Verified || r.RequestID != id {
			s.doubled = append(s.doubled, fmt.Sprintf("a receipt of %s, which the ledger has as %q", id, e.State))
		}
	}
	return d.topics.ReadAll(ctx, bus.ErasureStatus, func(rec ingest.Record) error {
		n, err := wire.ParseNotice(rec)
		if err != nil || n.Status == nil {
			return err
		}
		said := *n.Status
		e, known := entries[said.RequestID]
		switch own := said.Key() == said.RequestID; {
		case !own && said.State == deletions.Rejected && said.RequestDigest != e.Digest:
			return nil
		case known && said.State == e.State && (said.RequestDigest == e.Digest || said.Repeats == e.Digest) &&
			fmt.Sprint(said.Outcomes) == fmt.Sprint(e.Progress.Outcomes) || !own && said.Repeats == e.Digest:
			return nil
		}
		s.doubled = append(s.doubled, fmt.Sprintf("%s is told to be %s, and the ledger has %q", rec.Key, said.State, e.State))
		return nil
	})
}
