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

// outbox publishes states, commands and tombstones.
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
	// rolls counts the markers still to follow a withdrawal; rolled is the time of the last.
	rolls  int
	rolled time.Time
}

// announce publishes statuses and copies of entries.
func (o *outbox) announce(ctx context.Context, list ...deletions.Entry) error {
	return o.copy(ctx, list, true)
}

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

// handOver is copies if other processes stand by, before something is removed from which they could derive the
// entries.
func (o *outbox) handOver(ctx context.Context, list []deletions.Entry) error {
	if !o.shared || len(list) == 0 {
		return nil
	}
	return o.copies(ctx, list)
}

// publish publishes statuses.
func (o *outbox) publish(ctx context.Context, list []deletions.Status) error {
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

// deadLetter publishes dead letters without the records' content.
func (o *outbox) deadLetter(ctx context.Context, list []letter, version string) error {
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

// record is a status's record. It notifies the listener of a new state.
func (o *outbox) record(status deletions.Status) (ingest.Outgoing, error) {
	if o.entered.add(&status) {
		o.listener.ErasureChanged(events.ErasureChanged{
			Trace: events.TraceOfErasure(o.secret, status.RequestID), State: string(status.State),
			Elapsed: status.UpdatedAt.Sub(status.ReceivedAt), Result: string(status.Result()),
		})
	}
	return wire.StatusRecord(status, o.signing)
}

// suppress commands score to suppress the targets of requests.
func (o *outbox) suppress(ctx context.Context, list ...deletions.Entry) error {
	var commands []*wire.Command
	for _, e := range list {
		commands = append(commands, &wire.Command{
			RequestID: e.RequestID, Attempt: e.Attempts, Phase: wire.PhaseSuppress,
			SecretCheck: wire.SecretCheck(o.secret), Suppressed: e.Suppressed(), Subjects: e.Subjects,
			Redacted: e.Redactions(),
		})
	}
	return o.send(ctx, commands...)
}

// lift commands score to accept records of these hashes again.
func (o *outbox) lift(ctx context.Context, e deletions.Entry, hashes []lethe.Digest, still []lethe.SubjectUntil) error {
	return o.send(ctx, &wire.Command{
		RequestID: e.RequestID, Attempt: e.Attempts, Phase: wire.PhaseLift,
		SecretCheck: wire.SecretCheck(o.secret), Suppressed: hashes, Subjects: still,
	})
}

// command commands the other roles to do a phase of a batch. Revisions only grow, so the present ones will do.
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

// unneeded returns tombstones for the commands of ended requests, and for the batch's command once all have ended.
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

// whole returns the open requests of a batch in any state: an acknowledgement must hold for all.
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

// repeat publishes the command and states of a batch again. A batch that needs its targets is commanded when they
// have been read.
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

// repeatAlone is repeat for a request that has not begun.
func (o *outbox) repeatAlone(ctx context.Context, e deletions.Entry) error {
	if e.State == deletions.Suppressed {
		if err := o.suppress(ctx, e); err != nil {
			return err
		}
	}
	return o.announce(ctx, e)
}

const (
	// laterRolls is how many markers follow a withdrawal: Kafka rolls a segment only at a write after segment.ms, and
	// drops tombstones in a later pass. They are forgotten at a restart; any later write has the same effect.
	laterRolls    = 3
	laterInterval = bus.CleaningLag + time.Second
)

// withdraw writes tombstones and a marker behind them, as the newest record of a partition is not compacted. The
// marker on erasures.v1 wakes an embedded broker's cleaner.
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

func (o *outbox) rollLater(ctx context.Context) error {
	if o.rolls == 0 || o.clock.Now().Sub(o.rolled) < laterInterval {
		return nil
	}
	o.rolls, o.rolled = o.rolls-1, o.clock.Now()
	return o.bus.RollMarkers(ctx, bus.Transactions, bus.Labels, bus.Erasures)
}

// answered notifies the listener of a step acknowledged for open requests, again after a restart.
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
