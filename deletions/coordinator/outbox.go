package coordinator

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"slices"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/ledgercopy"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/metrics/events"
	"lethe/pipeline/wire"
)

// outbox is what the coordinator says of requests.
type outbox struct {
	secret   lethe.Secret
	signing  ed25519.PrivateKey
	ledger   *deletions.Ledger
	bus      Bus
	graphs   Graphs
	clock    Clock
	listener events.Listener
	entered  entered
	// shared says that other processes stand by.
	shared bool
	// rolls counts the markers still to follow a withdrawal, rolled is when the last was written.
	rolls  int
	rolled time.Time
}

// announce publishes the states of requests, and copies of their entries.
func (o *outbox) announce(ctx context.Context, list ...deletions.Entry) error {
	return o.copy(ctx, list, true)
}

// copies publishes copies of entries, for whoever goes on with them.
func (o *outbox) copies(ctx context.Context, list []deletions.Entry) error {
	return o.copy(ctx, list, false)
}

func (o *outbox) copy(ctx context.Context, list []deletions.Entry, statuses bool) error {
	var records []ingest.Outgoing
	for _, e := range list {
		copied, err := ledgercopy.Records(o.secret, e)
		if err != nil {
			return err
		}
		if records = append(records, copied...); !statuses {
			continue
		}
		status, err := o.record(e.Status())
		if err != nil {
			return err
		}
		records = append(records, status)
	}
	return wire.Say(ctx, o.bus, records)
}

// handOver is copies where there are others, before something is removed by which they could find out for themselves
// what the entries know.
func (o *outbox) handOver(ctx context.Context, list []deletions.Entry) error {
	if !o.shared || len(list) == 0 {
		return nil
	}
	return o.copies(ctx, list)
}

// say publishes statuses.
func (o *outbox) say(ctx context.Context, list []deletions.Status) error {
	records := make([]ingest.Outgoing, len(list))
	for i, status := range list {
		var err error
		if records[i], err = o.record(status); err != nil {
			return err
		}
	}
	if len(records) == 0 {
		return nil
	}
	return wire.Say(ctx, o.bus, records)
}

// bury keeps records that are refused as dead letters, without what they hold.
func (o *outbox) bury(ctx context.Context, list []letter, version string) error {
	letters := make([]ingest.Outgoing, len(list))
	for i, one := range list {
		o.listener.RecordDeadLettered(events.RecordDeadLettered{
			Topic: one.rec.Topic, Reason: string(one.refusal.Reason),
		})
		letters[i] = ingest.WithheldLetter(one.rec, one.refusal, version)
	}
	if len(letters) == 0 {
		return nil
	}
	if err := o.bus.Write(ctx, bus.DeadLetters, letters); err != nil {
		return fmt.Errorf("write %d dead letters: %w", len(letters), err)
	}
	var answers []ingest.Outgoing
	for _, one := range list {
		answer, is, err := wire.RefusedControl(one.rec, one.refusal)
		if err != nil {
			return err
		}
		if is {
			answers = append(answers, answer)
		}
	}
	if len(answers) == 0 {
		return nil
	}
	answers, err := wire.SignAnswers(answers, o.signing)
	if err != nil {
		return err
	}
	return wire.Say(ctx, o.bus, answers)
}

// record is a status as a record of its topic. The listener is notified when the request has entered a state.
func (o *outbox) record(status deletions.Status) (ingest.Outgoing, error) {
	if o.entered.add(&status) {
		o.listener.ErasureChanged(events.ErasureChanged{
			Trace: events.TraceOfErasure(o.secret, status.RequestID), State: string(status.State),
			Elapsed: status.UpdatedAt.Sub(status.ReceivedAt), Result: string(status.Result()),
		})
	}
	return wire.StatusRecord(status, o.signing)
}

// suppress asks score to let nothing about the targets of requests out any more.
func (o *outbox) suppress(ctx context.Context, list ...deletions.Entry) error {
	var commands []*wire.Command
	for _, e := range list {
		commands = append(commands, &wire.Command{
			RequestID: e.RequestID, Attempt: e.Attempts, Phase: wire.PhaseSuppress,
			SecretCheck: wire.SecretCheck(o.secret), Suppressed: e.Suppressed(), Subjects: e.Subjects,
			Redacted: e.Redactions(), Taken: o.graphs.Taken(),
		})
	}
	return o.send(ctx, commands...)
}

// lift asks score to take the records of these keyed hashes again, of a request that was cancelled.
func (o *outbox) lift(ctx context.Context, e deletions.Entry, hashes []lethe.Digest, still []lethe.SubjectUntil) error {
	return o.send(ctx, &wire.Command{
		RequestID: e.RequestID, Attempt: e.Attempts, Phase: wire.PhaseLift,
		SecretCheck: wire.SecretCheck(o.secret), Suppressed: hashes, Subjects: still,
	})
}

// command asks the other roles to do their part for a batch. Revisions only grow, so
// those of now will do for a timestep that was rewritten before.
func (o *outbox) command(ctx context.Context, leader string, phase wire.Phase) error {
	b, err := o.whole(leader)
	if err != nil {
		return err
	}
	return o.send(ctx, o.commandOf(b, phase))
}

func (o *outbox) commandOf(b batch, phase wire.Phase) *wire.Command {
	return &wire.Command{
		RequestID: b.leader, Attempt: b.attempts(), Phase: phase,
		SecretCheck: wire.SecretCheck(o.secret), Suppressed: b.targets(), Subjects: b.subjects(),
		Redacted: b.redactions(), Fingerprints: b.fingerprints(), Steps: o.graphs.Steps(b.replaced()),
	}
}

// unneeded deletes what the roles were told of requests that are done: to suppress
// their targets, and, once no other request of the batch is open, the batch's command.
func (o *outbox) unneeded(b batch) (tombstones []ingest.Outgoing, answered []string, err error) {
	for _, id := range b.ids() {
		if id != b.leader {
			tombstones, answered = append(tombstones, wire.CommandTombstone(id)), append(answered, id)
		}
	}
	rest, err := o.whole(b.leader)
	if err != nil || len(rest.members) > 0 {
		return tombstones, answered, err
	}
	done, err := o.ledger.Where(func(e *deletions.Entry) bool {
		return e.State.Final() && e.Leader() == b.leader
	})
	if err != nil {
		return nil, nil, err
	}
	last, err := o.commandOf(batch{leader: b.leader, members: done}, wire.PhaseSearch).Tombstones()
	return append(tombstones, last...), append(answered, b.leader), err
}

// whole returns the requests of a batch that are not done, whatever their state: an
// answer to a command must hold for each of them.
func (o *outbox) whole(leader string) (batch, error) {
	open, err := o.ledger.Open()
	b := batch{leader: leader}
	for _, e := range open {
		if begun(e) && e.Leader() == leader {
			b.members = append(b.members, e)
		}
	}
	return b, err
}

func (o *outbox) send(ctx context.Context, commands ...*wire.Command) error {
	var records []ingest.Outgoing
	for _, command := range commands {
		own, err := command.Records()
		if err != nil {
			return err
		}
		records = append(records, own...)
	}
	return wire.Say(ctx, o.bus, records)
}

// repeat sends the command and the states of a batch once more. One whose targets are
// still needed is not commanded again: it goes on when they have been read again.
func (o *outbox) repeat(ctx context.Context, b batch) (err error) {
	switch b.state() {
	case deletions.Retraining, deletions.Swapped:
		err = o.command(ctx, b.leader, wire.PhasePurge)
	case deletions.Erased:
		err = o.command(ctx, b.leader, wire.PhaseSearch)
	default:
	}
	if err != nil {
		return err
	}
	return o.announce(ctx, b.members...)
}

// repeatAlone is repeat for a request that has not begun to be carried out.
func (o *outbox) repeatAlone(ctx context.Context, e deletions.Entry) error {
	if e.State == deletions.Suppressed {
		if err := o.suppress(ctx, e); err != nil {
			return err
		}
	}
	return o.announce(ctx, e)
}

const (
	// laterRolls is how many markers follow a withdrawal for the sake of Apache
	// Kafka, which takes a segment to be old only when something is written after
	// segment.ms, and drops the tombstone in a later run. They are not
	// remembered over a restart: whatever is sent next does the same.
	laterRolls    = 3
	laterInterval = bus.CleaningLag + time.Second
)

// withdraw writes tombstones to a topic, and a marker behind them: the newest
// write of a partition is not compacted. By the one on erasures.v1 the cleaner of an
// embedded broker knows that somebody waits.
func (o *outbox) withdraw(ctx context.Context, topic bus.Topic, tombstones []ingest.Outgoing) error {
	if len(tombstones) == 0 {
		return nil
	}
	if err := o.bus.Write(ctx, topic, tombstones); err != nil {
		return fmt.Errorf("withdraw %d records: %w", len(tombstones), err)
	}
	if err := o.bus.RollMarkers(ctx, slices.Compact([]bus.Topic{topic, bus.Erasures})...); err != nil {
		return err
	}
	o.rolls, o.rolled = laterRolls, o.clock.Now()
	return nil
}

// rollLater writes the markers that are due.
func (o *outbox) rollLater(ctx context.Context) error {
	if o.rolls == 0 || o.clock.Now().Sub(o.rolled) < laterInterval {
		return nil
	}
	o.rolls, o.rolled = o.rolls-1, o.clock.Now()
	return o.bus.RollMarkers(ctx, bus.Transactions, bus.Labels, bus.Erasures)
}

// answered tells the listener that a process has done a step of the requests of a batch that are open.
// What it answered before this process began is read again and is told again.
func (o *outbox) answered(ack deletions.Ack) error {
	open, err := o.ledger.Open()
	if err != nil {
		return err
	}
	for _, e := range open {
		if e.RequestID != ack.RequestID && (!begun(e) || e.Leader() != ack.RequestID) || ack.Attempt < e.Attempts {
			continue
		}
		o.listener.ErasureAnswered(events.ErasureAnswered{
			Trace: events.TraceOfErasure(o.secret, e.RequestID), Role: ack.Role, Instance: ack.Instance, Step: string(ack.Step),
			Duration: max(0, o.clock.Now().Sub(e.Updated())),
		})
	}
	return nil
}
