package webhooks

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/check"
	"lethe/internal/outbound"
	"lethe/internal/sleep"
	"lethe/metrics/events"
	"lethe/scoring"
)

// Dispatcher posts alerts. Use New, then Run once.
type Dispatcher struct {
	o      Options
	client *http.Client
	state  state
}

// New reads the stored state. Without one, alerts are sent from now on: earlier ones are in the
// topic, and a new receiver does not expect them.
func New(ctx context.Context, o Options) (*Dispatcher, error) {
	if err := outbound.CheckURL(o.URL, o.AllowPrivate); err != nil {
		return nil, fmt.Errorf("webhooks: %w", check.Problem{Key: "url", Value: o.URL, Want: err.Error()})
	}
	d := &Dispatcher{o: o, client: outbound.Client(o.AllowPrivate, o.Timeout)}
	s, found, err := readState(o.StatePath)
	if err != nil {
		return nil, err
	}
	if !found {
		if s.Next, err = o.Topics.EndOffsets(ctx, bus.Predictions); err != nil {
			return nil, fmt.Errorf("webhooks: %w", err)
		}
		if err := s.write(); err != nil {
			return nil, err
		}
	}
	d.state = s
	d.reportOpen()
	return d, nil
}

// Run posts alerts until the context ends. Undelivered ones are retried first.
func (d *Dispatcher) Run(ctx context.Context) error {
	partitions, err := d.o.Topics.Partitions(ctx, bus.Predictions)
	if err != nil {
		return ending(ctx, err)
	}
	tail, err := d.o.Topics.Follow(d.state.positions(partitions))
	if err != nil {
		return fmt.Errorf("webhooks: %w", err)
	}
	defer tail.Close() //nolint:errcheck // nothing was written
	// reached is the end of each partition's last batch.
	reached := make(map[int]int64)
	for {
		batch, err := tail.Next(ctx)
		if errors.Is(err, bus.ErrInterrupted) {
			d.o.Logger.Warn("webhooks wait for the topic", "error", err)
			continue
		}
		if err == nil {
			err = d.take(ctx, batch, reached)
		}
		if err != nil {
			return errors.Join(ending(ctx, err), d.state.write())
		}
	}
}

// Close does nothing: Run cleans up.
func (d *Dispatcher) Close() error {
	d.client.CloseIdleConnections()
	return nil
}

// ending ignores an error if the context has ended.
func ending(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil //nolint:nilerr // it was stopped
	}
	return fmt.Errorf("webhooks: %w", err)
}

// take processes the records of a batch.
func (d *Dispatcher) take(ctx context.Context, batch bus.Batch, reached map[int]int64) error {
	p, met := batch.Source.Partition, make(map[int64]bool)
	for _, rec := range batch.Records {
		met[rec.Offset] = true
		if !d.state.isDue(p, rec.Offset) {
			continue
		}
		if rec.Unauthenticated != "" {
			d.passOver(rec)
			continue
		}
		if alert := alertOf(rec); alert != nil {
			if err := d.deliver(ctx, rec, alert); err != nil {
				return err
			}
		}
	}
	toWrite := d.state.pass(p, reached[p], batch.Next, met)
	if reached[p] = batch.Next; !toWrite {
		return nil
	}
	return d.state.write()
}

// passOver counts a record that the deployment did not write. It is not posted.
func (d *Dispatcher) passOver(rec ingest.Record) {
	d.o.Logger.Error("a record that lethe did not write was ignored", "partition", rec.Partition, "offset", rec.Offset,
		"reason", rec.Unauthenticated)
	d.o.Listener(events.RecordsMissed{
		Topic: string(bus.Predictions), Partition: rec.Partition, From: rec.Offset, To: rec.Offset + 1,
		Reason: string(ingest.Unproven),
	})
}

// alertOf decodes a final prediction of class illicit; nil for anything else.
func alertOf(rec ingest.Record) *scoring.Prediction {
	if rec.Tombstone() || len(rec.Key) == 0 || rec.Key[0] == '!' {
		return nil
	}
	p, err := scoring.DecodePrediction(rec.Value)
	if err != nil || !p.Final || p.Class != lethe.Illicit.String() {
		return nil
	}
	return p
}

// deliver retries until the alert is accepted, erased or given up.
func (d *Dispatcher) deliver(ctx context.Context, rec ingest.Record, alert *scoring.Prediction) error {
	body, err := bodyOf(alert, d.o.Now())
	if err != nil {
		return err
	}
	var a answer
	for tries := 1; ; tries++ {
		shown := d.o.Alerts.WhileShown(alert.Transaction, func() { a = d.post(ctx, alert.ID, body) })
		switch {
		case !shown:
			return d.settled(rec, events.WebhookErased)
		case a.delivered():
			return d.settled(rec, events.WebhookDelivered)
		case ctx.Err() != nil:
			return ctx.Err()
		case a.final() || tries >= d.o.Tries:
			return d.left(rec, tries, a)
		}
		d.o.Listener(events.WebhookTried{Outcome: events.WebhookFailed, Undelivered: len(d.state.Undelivered)})
		if tries == 1 {
			d.o.Logger.Warn("an alert was not taken and is sent again", "partition", rec.Partition, "offset", rec.Offset,
				"answer", a.String())
		}
		if err := sleep.For(ctx, max(d.wait(tries), min(a.wait, d.o.LongestWait))); err != nil {
			return err
		}
	}
}

// wait is the pause after a number of tries.
func (d *Dispatcher) wait(tries int) time.Duration {
	wait := d.o.FirstWait
	for range tries - 1 {
		if wait *= 2; wait >= d.o.LongestWait {
			wait = d.o.LongestWait
			break
		}
	}
	const least = .5
	return time.Duration(float64(wait) * (least + (1-least)*d.o.Random()))
}

func (d *Dispatcher) settled(rec ingest.Record, outcome events.WebhookOutcome) error {
	d.state.settle(rec.Partition, rec.Offset)
	d.report(outcome)
	return d.state.write()
}

func (d *Dispatcher) left(rec ingest.Record, tries int, a answer) error {
	forgotten := d.state.leave(undelivered{rec.Partition, rec.Offset, tries, a.status, d.o.Now().UTC()})
	d.o.Logger.Error("an alert was not delivered; it is tried again when lethe starts", "partition", rec.Partition,
		"offset", rec.Offset, "tries", tries, "answer", a.String())
	if forgotten {
		d.o.Logger.Error("so many alerts were not delivered that the oldest is not tried again", "most", mostUndelivered)
	}
	d.report(events.WebhookUndelivered)
	return d.state.write()
}

func (d *Dispatcher) report(outcome events.WebhookOutcome) {
	d.o.Listener(events.WebhookTried{Outcome: outcome, Undelivered: len(d.state.Undelivered)})
}

// reportOpen reports how many alerts are undelivered.
func (d *Dispatcher) reportOpen() { d.report("") }
