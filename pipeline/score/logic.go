package score

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"lethe"
	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/journal"
	"lethe/pipeline/role"
	"lethe/pipeline/score/sent"
	"lethe/pipeline/wire"
)

// search looks for what a command erases in some of the files that the role keeps.
type search func(ctx context.Context, c *wire.Command, which func(path string) bool) (scan.Summary, error)

// logic is the role as a step function over one store.
type logic struct {
	o         Options
	predictor predictor
	state     *state
	search    search
	// explaining makes reasons.
	explaining explaining
	// arrivals is nil if transactions are not scored before their timestep closes.
	arrivals *arrivals
	// said is what others were told of what is served and scored.
	said journal.Served
	// journal is nil in a process that stands by.
	journal *journal.Log
	passing passing
	// sent is what who led before has published and this process has not noted, nil until it was
	// looked for.
	sent *sent.Predictions
	// late is what such a one publishes still.
	late *sent.Late
	// erasures are the requests under way, by id.
	erasures map[string]*erasure
}

// newLogic reads from the store where the role stands.
func newLogic(o Options, store role.Store, search search) (*logic, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	predictor, err := newPredictor(o)
	if err != nil {
		return nil, err
	}
	l := &logic{
		o: o, predictor: predictor, search: search,
		said: journal.Served{Through: lethe.NoTimestep}, passing: passing{at: lethe.NoTimestep},
		erasures: make(map[string]*erasure), late: sent.NewLate(o.Standing),
	}
	if l.state, err = readState(store, o.Layout, o.Meta); err != nil {
		return nil, err
	}
	if l.explaining, err = newExplaining(o, l.state); err != nil {
		return nil, err
	}
	if l.arrivals, err = newArrivals(o); err != nil {
		return nil, err
	}
	if err := l.arrivals.resume(l.state); err != nil {
		return nil, err
	}
	var subjects []lethe.SubjectUntil
	for target, until := range l.state.subjects {
		subjects = append(subjects, lethe.SubjectUntil{Target: target, Until: until})
	}
	l.arrivals.suppress(slices.Collect(maps.Keys(l.state.suppressed)), l.state.redacted.List(), subjects...)
	if err := l.compareAll(); err != nil || o.Standing != nil {
		// Who takes over scores nothing that arrives before the first step has read what was sent.
		return l, err
	}
	return l, l.arrivals.serve(l.state.served)
}

// Topics implements role.Logic.
func (l *logic) Topics() []bus.Topic { return []bus.Topic{bus.Snapshots, bus.Models} }

// Resume implements role.Logic.
func (l *logic) Resume(source bus.TopicPartition, _ int) (int64, error) {
	return offsetOf(l.state.store, source)
}

// Close implements role.Logic.
func (l *logic) Close() error { return l.state.store.Close() }

// Status implements role.Logic: predictions, their quality and the ensemble.
func (l *logic) Status() *role.Status {
	s := &role.Status{Steps: make(map[lethe.Timestep]role.Step), ReasonsPending: l.explaining.owed()}
	if e := l.state.served; e != nil {
		s.Ensemble = &role.Ensemble{Version: e.Version, Through: e.Through}
	}
	for t, q := range l.state.quality {
		s.Steps[t] = role.Step{Predictions: q.predictions, Quality: q.summary}
	}
	return s
}

// Step implements role.Logic. Suppression takes effect before anything else is
// scored, and all that can be scored and swapped is before an erasure is
// acknowledged. Reasons that an erasure had a part in come after it is acknowledged that
// the ensemble was swapped, and before anything more is.
func (l *logic) Step(ctx context.Context, now func() time.Time, in role.Input) (role.Output, error) {
	if l.sent == nil && !l.o.Standing.StandsBy() {
		if err := takeOver(ctx, l); err != nil {
			return role.Output{}, err
		}
	}
	if in.Ticked {
		l.passing.ticked()
	}
	if err := l.take(ctx, in); err != nil {
		return role.Output{}, err
	}
	if out, due, err := putRight(ctx, l); err != nil || due {
		return out, err
	}
	out, progressed, err := l.advance(ctx, now)
	if err == nil {
		err = l.arrivals.serve(l.state.served)
	}
	if err != nil || progressed {
		return out, err
	}
	if now := serves(l); !now.Equal(l.said) {
		return l.tell(ctx, now)
	}
	if out, err := l.acknowledge(ctx); err != nil || !out.Idle {
		return out, err
	}
	out, due, err := l.explaining.next()
	if err != nil || due {
		return out, err
	}
	unnoted := l.sent.Left(func(t lethe.Timestep) bool {
		at, known := l.state.links[t]
		return known && (!at.done || at.late)
	})
	return role.Output{Idle: true, Waits: l.explaining.background.Busy(), Unnoted: unnoted}, nil
}

// putRight publishes reasons that were made, withdraws what is of no use any more, and publishes final predictions
// again that somebody wrote over who had led before.
func putRight(ctx context.Context, l *logic) (out role.Output, due bool, err error) {
	if err := l.explaining.release(); err != nil {
		return out, false, err
	}
	if out, due, err := l.explaining.finished(); err != nil || due {
		return out, due, err
	}
	again, err := l.late.Again(ctx, l.o.Bus, l.state.hiding(l.o.Secret))
	return role.Output{Topic: bus.Predictions, Records: again}, len(again) > 0, err
}

// take stores what has arrived. How far a partition was read is noted with what
// changes something; of messages that change nothing, with the last one: a replay
// sends a model for every timestep, of which one is served.
func (l *logic) take(ctx context.Context, in role.Input) error {
	source, skipped := in.Batch.Source, int64(-1)
	for _, m := range in.Messages {
		isModel := m.Key.Kind == wire.KindModel && !m.Deleted && int(m.Key.Shard) < l.state.models()
		if isModel && !wanted(l.state, l.erasures, m) {
			skipped = m.Next
			continue
		}
		skipped = -1
		err := l.takeMessage(ctx, source, m)
		if errors.Is(err, wire.ErrPayload) {
			l.o.PassOver(roleName, source.Topic, m)
		} else if err != nil {
			return fmt.Errorf("message %s: %w", m.Key, err)
		}
	}
	l.sent.Read(source, in.Batch.Next)
	if skipped >= 0 {
		if err := storeOffset(l.state.store, source, skipped); err != nil {
			return fmt.Errorf("note how far %s was read: %w", source, err)
		}
	}
	for _, e := range in.Entries {
		if served, is := e.Decision.(journal.Served); is {
			l.passing.told = &served
		}
	}
	return l.takeNotices(in.Notices)
}

// takeOver reads what was said by who led before, and has all count as scored that was.
func takeOver(ctx context.Context, l *logic) error {
	err := l.o.Standing.Begin(ctx, l.o.Bus, journal.ForAll, journal.Position{})
	if err != nil {
		return err
	}
	l.journal, err = l.o.Standing.ReadJournal(ctx, l.o.Bus, journal.ForAll, roleName, l.o.Instance, func(e journal.Entry) {
		if served, is := e.Decision.(journal.Served); is {
			l.said = served
		}
	})
	if err != nil {
		return err
	}
	if l.sent, err = sent.Read(ctx, l.o.Bus, l.o.Standing, l.o.Secret); err != nil || l.o.Standing == nil {
		return err
	}
	if err := l.late.Begin(ctx, l.o.Bus, l.o.Standing); err != nil {
		return err
	}
	l.arrivals.past(l.sent.Nodes())
	at := make(map[bus.TopicPartition]int64)
	if err := readOffsets(l.state.store, at); err != nil {
		return err
	}
	for tp, next := range at {
		l.sent.Read(tp, next)
	}
	return passScored(l)
}

// serves is what others are told: through which timestep the models are that are served, or waited for, and, where
// others stand by, what is scored.
func serves(l *logic) journal.Served {
	now := journal.Served{Through: l.state.needed(l.o.Scoring.LabelLagTimesteps)}
	if l.o.Standing != nil {
		now.Scored = l.state.links.scored()
	}
	return now
}

// tell tells others what is served. A process that stands by, which publishes nothing, takes it for told.
func (l *logic) tell(ctx context.Context, now journal.Served) (role.Output, error) {
	if l.journal == nil {
		return role.Output{Note: func() error { l.said = now; return nil }}, nil
	}
	entry := l.journal.Next(now)
	record, err := entry.Record()
	if err != nil {
		return role.Output{}, err
	}
	confirm := func() error { return l.journal.Confirm(ctx, entry) }
	return role.Output{Topic: bus.Journal, Records: []ingest.Outgoing{record}, Note: confirm}, nil
}
