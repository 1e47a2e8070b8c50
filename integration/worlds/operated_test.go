package worlds

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/snapshot"
)

// begun is when every world begins.
var begun = time.Unix(1_700_000_000, 0)

// operation is what an operator does.
type operation struct {
	// cancel is the request that is taken back, lift the hold that is lifted.
	cancel *lethe.ErasureRequest
	hold   *ingest.Hold
	lift   string
	// aborted is a record of a transaction that is aborted, asked a request that is not carried out.
	aborted *event
	asked   *ingest.Outgoing
	// conflicts means that what is asked is another request under a name that is taken.
	conflicts bool
	// opened is a record of a transaction that is open until it is ended, unreadable a partition to which a batch is
	// written that nobody can read.
	opened     *event
	ended      *ended
	unreadable *bus.TopicPartition
	// backup has a copy made of everything, restore has it put back.
	backup, restore bool
	// shift is what happens to those that train.
	shift *shift
	// change is what happens to processes of which one leads.
	change *change
	// pause lets all roles do what there is to do, passes lets time pass.
	pause, passes bool
}

// operate draws what operators do. The rest of the world is drawn already and stays as it is.
func (d *drawing) operate(chance *rand.Rand) {
	for _, e := range d.events {
		if e.request != nil && chance.IntN(3) == 0 {
			e.request.Deadline = begun.Add(time.Duration(chance.IntN(180)-60) * time.Second)
		}
	}
	switch chance.IntN(6) {
	case 0:
		d.held(chance, true)
	case 1:
		if d.world.loose || d.world.late && d.config.Late != snapshot.DeadLetter && !d.bounded {
			d.cancelled(chance)
		} else {
			d.held(chance, false)
		}
	case 2, 3:
		if !d.options.led {
			d.restored(chance)
		}
	}
}

// held draws a hold that comes before the first request for what it keeps, so that nothing of it
// is suppressed until the hold ends. Other requests may name the same, or other targets of the one
// that is held. One that does not end is followed by a cancellation.
func (d *drawing) held(chance *rand.Rand, ends bool) {
	var list []lethe.Target
	for _, target := range d.targets() {
		if target.Kind == lethe.TransactionTarget || target.Kind == lethe.SubjectTarget {
			list = append(list, target)
		}
	}
	if len(list) == 0 {
		return
	}
	slices.SortFunc(list, func(a, b lethe.Target) int { return strings.Compare(d.order(a), d.order(b)) })
	hold := &ingest.Hold{Name: "hold", Reason: "court"}
	if one := list[chance.IntN(len(list))]; one.Kind == lethe.SubjectTarget {
		hold.Subjects = []string{one.Subject}
	} else {
		hold.Transactions = []lethe.TransactionID{one.Transaction}
	}
	at := slices.IndexFunc(d.events, func(e event) bool { return e.request != nil && d.keeps(hold, e.request) })
	request := d.events[at].request
	// What a request names may come after it began, and be dropped or become 0 before a hold keeps
	// it on account of a subject that it carries. It is made up for once the hold ends.
	redacts := len(hold.Subjects) > 0 && d.world.redacts()
	if !ends && (redacts || !names(request, hold)) {
		return
	}
	if !d.world.late {
		// What is not erased may correct nothing that was predicted from.
		d.events = slices.DeleteFunc(d.events, func(e event) bool { return e.again })
	}
	d.insert(at, operation{hold: hold})
	behind := at + 2 + chance.IntN(len(d.events)-at-1)
	switch {
	case !ends:
		d.insert(behind, operation{cancel: request})
	case chance.IntN(3) == 0 || redacts:
		hold.Until = begun.Add(time.Duration(chance.IntN(60)) * time.Second)
	case chance.IntN(2) == 0:
		d.insert(behind, operation{lift: hold.Name})
	}
}

// names reports whether a request names what a hold does.
func names(request *lethe.ErasureRequest, hold *ingest.Hold) bool {
	return slices.ContainsFunc(request.Targets, func(t lethe.Target) bool {
		return slices.Contains(hold.Transactions, t.Transaction) || slices.Contains(hold.Subjects, t.Subject)
	})
}

// order is what targets are sorted by.
func (d *drawing) order(t lethe.Target) string { return string(t.Transaction) + t.Subject }

// keeps reports whether a hold keeps something of a request: a transaction, what carries one of
// the same subjects, or an end of a payment that does.
func (w *world) keeps(hold *ingest.Hold, request *lethe.ErasureRequest) bool {
	var kept []lethe.TransactionID
	held := make(map[lethe.TargetName]bool)
	for _, target := range hold.Targets() {
		for _, with := range w.with(target) {
			held[with.Name()] = true
			kept = append(kept, with.Transaction, with.Payment.Source, with.Payment.Target)
		}
	}
	return slices.ContainsFunc(request.Targets, func(target lethe.Target) bool {
		return slices.ContainsFunc(w.with(target), func(with lethe.Target) bool {
			return held[with.Name()] || with.Transaction != "" && slices.Contains(kept, with.Transaction)
		}) || target.Kind == lethe.SubjectTarget && slices.Contains(hold.Subjects, target.Subject)
	})
}

// restored draws that a backup is made and put back.
func (d *drawing) restored(chance *rand.Rand) {
	made := chance.IntN(len(d.events) + 1)
	d.insert(made, operation{backup: true})
	d.insert(made+1+chance.IntN(len(d.events)-made), operation{restore: true})
}

func (d *drawing) insert(at int, o operation) {
	d.events = slices.Insert(d.events, at, event{operation: &o})
}

// operate does what an operator does at a position of the world.
func (s *simulation) operate(ctx context.Context, at int) error {
	switch o := s.world.events[at].operation; {
	case o.hold != nil:
		key, value, err := ingest.EncodeHold(*o.hold)
		return s.say(ctx, key, value, err)
	case o.lift != "":
		key, value, err := ingest.EncodeLift(ingest.Lift{Name: o.lift})
		return s.say(ctx, key, value, err)
	case o.cancel != nil:
		// One without a nonce is given one, so that its digest is that of its entry.
		entry, err := deletions.NewEntry(secret, *o.cancel, begun)
		if err != nil {
			return err
		}
		key, value, err := ingest.EncodeCancel(ingest.Cancel{RequestID: o.cancel.RequestID, Digest: entry.Digest})
		err = s.say(ctx, key, value, err)
		if err != nil || s.world.keepsOnHold() {
			return err // what is held has dropped nothing
		}
		return s.sendAgain(ctx, at)
	case o.aborted != nil:
		return s.abort(ctx, *o.aborted)
	case o.opened != nil, o.ended != nil, o.unreadable != nil:
		return s.hide(ctx, *o)
	case o.asked != nil:
		return s.ask(ctx, *o)
	case o.shift != nil:
		return s.shift(ctx, *o.shift)
	case o.change != nil:
		if err := s.current.change(ctx, *o.change); err != nil {
			return err
		}
		return s.restart(ctx)
	case o.passes:
		return s.pass(ctx)
	case o.pause:
		return s.pause(ctx)
	case o.backup:
		s.backup, s.made = s.current.image(), at
		return nil
	default:
		return s.putBack(ctx, at)
	}
}

// say publishes a control record of erasures.v1.
func (s *simulation) say(ctx context.Context, key, value []byte, err error) error {
	if err != nil {
		return err
	}
	return s.send(ctx, event{topic: bus.Erasures, record: ingest.Outgoing{Key: key, Value: value}})
}

// carriedOut is the world without the requests that were taken back or are held. A transaction
// that came after its subject's request began, and is held, is dropped in what carries the
// subject, and kept in all else.
func (w world) carriedOut(s *state) world {
	var kept []event
	for id, state := range s.states {
		for _, e := range w.events {
			if isAgain(id) && state == deletions.Held && e.operation != nil && e.operation.hold != nil {
				w.kept = e.operation.hold.Transactions
			}
		}
	}
	for _, e := range w.events {
		if e.request != nil {
			if state := s.states[e.request.RequestID]; state == deletions.Cancelled || state == deletions.Held {
				continue
			}
		}
		kept = append(kept, e)
	}
	w.events = kept
	return w
}

// keepsOnHold reports whether some request is held until it is taken back.
func (w world) keepsOnHold() bool {
	return slices.ContainsFunc(w.events, func(e event) bool { return e.operation != nil && e.operation.hold != nil })
}

// isOperated reports whether some record may have been taken twice, or never by the process
// that is left.
func (w world) isOperated() bool {
	return slices.ContainsFunc(w.events, func(e event) bool {
		return e.operation != nil && (e.operation.cancel != nil || e.operation.restore)
	})
}
