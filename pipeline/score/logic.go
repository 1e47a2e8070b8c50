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
	"lethe/ingest/bus"
	"lethe/pipeline/journal"
	"lethe/pipeline/role"
	"lethe/pipeline/score/overwritten"
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
	// overwritten are final predictions in whose place one that led before has written.
	overwritten *overwritten.Predictions
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
		said: journal.Served{Through: lethe.NoTimestep}, erasures: make(map[string]*erasure),
	}
	if l.state, err = readState(store, o.Layout, o.Meta); err != nil {
		return nil, err
	}
	if l.explaining, err = newExplaining(o, l.state); err != nil {
		return nil, err
	}
	l.explaining.decide = l.decide
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
	if err := l.compareAll(); err != nil {
		return nil, err
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

// lead begins an epoch, or reads the journal of a process that shares the role with nobody. A process that others have
// been ahead of stands by again, until it has done what they decided.
func (l *logic) lead(ctx context.Context) error {
	as := l.o.Standing
	err := as.Begin(ctx, l.o.Bus, journal.ForAll, journal.Position{}, bus.Predictions)
	if err != nil {
		return err
	}
	var before, began journal.EpochBegan
	l.journal, err = as.ReadJournal(ctx, l.o.Bus, journal.ForAll, roleName, l.o.Instance, func(e journal.Entry) {
		if d, begins := e.Decision.(journal.EpochBegan); begins {
			began = d
			return
		}
		before = began // whoever began that went on to lead
		if served, is := e.Decision.(journal.Served); is {
			l.said = served
		}
	})
	if err != nil || as == nil {
		return err
	}
	l.overwritten = overwritten.Of(as.Former(before, bus.Predictions))
	at, err := placeOf(l.state.store)
	if err == nil && l.journal.Before().Behind(at) {
		err = as.StandByAgain()
	}
	return err
}

// Step implements role.Logic. Suppression takes effect before anything else is
// scored, and all that can be scored and swapped is before anything more is decided, and before an erasure is
// acknowledged. Reasons that an erasure had a part in come after it is acknowledged that
// the ensemble was swapped, and before anything more is.
func (l *logic) Step(ctx context.Context, now func() time.Time, in role.Input) (role.Output, error) {
	if err := l.consume(ctx, in); err != nil {
		return role.Output{}, err
	}
	if err := l.explaining.release(); err != nil {
		return role.Output{}, err
	}
	out, progressed, err := l.advance(ctx, now)
	if err == nil {
		err = l.arrivals.serve(l.state.served)
	}
	if err != nil || progressed {
		return out, err
	}
	if out, due, err := l.explaining.finished(ctx); err != nil || due {
		return out, err
	}
	again, err := l.overwritten.Again(ctx, l.o.Bus, l.state.hiding(l.o.Secret))
	if err != nil || len(again) > 0 {
		return role.Output{Topic: bus.Predictions, Records: again}, err
	}
	if now := l.serves(); !now.Equal(l.said) {
		if err := l.append(ctx, now); err != nil {
			return role.Output{}, err
		}
		l.said = now
	}
	if out, err := l.acknowledge(ctx); err != nil || !out.Idle {
		return out, err
	}
	out, due, err := l.explaining.next(ctx)
	if err != nil || due {
		return out, err
	}
	return role.Output{Idle: true}, nil
}

// decide has the journal say what the process does next, where others stand by. By then all that the entries before
// lead to is published.
func (l *logic) decide(ctx context.Context, what journal.Decision) error {
	if l.o.Standing == nil {
		return nil
	}
	return l.append(ctx, what)
}

func (l *logic) append(ctx context.Context, what journal.Decision) error {
	if err := l.journal.Append(ctx, l.o.Bus.Write, what); err != nil || l.o.Standing == nil {
		return err
	}
	return putPlace(l.state.store, l.journal.Done().Place)
}

// consume takes what has arrived, once the journal says so if it changes anything that others decide by. Commands are
// read from the start again whenever the role is opened: those that an entry has named need none.
func (l *logic) consume(ctx context.Context, in role.Input) error {
	source, next := in.Batch.Source, in.Batch.Next
	named, err := offsetOf(l.state.store, source)
	isNew := func(n wire.Notice) bool { return isCommand(n) && n.Offset >= named }
	if err != nil || l.o.Standing == nil ||
		!slices.ContainsFunc(in.Messages, l.wants) && !slices.ContainsFunc(in.Notices, isNew) {
		return errors.Join(err, l.take(ctx, in))
	}
	consumed := journal.Consumed{Topic: string(source.Topic), Partition: source.Partition, Next: next}
	if err := l.decide(ctx, consumed); err != nil {
		return err
	}
	return l.takeNamed(ctx, in)
}

// takeNamed takes what an entry names. Up to where commands were named is noted behind them.
func (l *logic) takeNamed(ctx context.Context, in role.Input) error {
	err := l.take(ctx, in)
	if err == nil && in.Batch.Source.Topic == bus.Control {
		err = storeOffset(l.state.store, in.Batch.Source, in.Batch.Next)
	}
	return err
}

// isCommand reports whether a notice says what is to become of an erasure.
func isCommand(n wire.Notice) bool { return n.Command != nil || n.Deleted != "" }

// wants reports whether a message is taken: a replay sends a model for every timestep, of which one is served.
func (l *logic) wants(m wire.Received) bool {
	isModel := m.Key.Kind == wire.KindModel && !m.Deleted && int(m.Key.Shard) < l.state.models()
	return !isModel || wanted(l.state, l.erasures, m)
}

// take stores what has arrived. How far a partition was read is noted with what
// changes something; of messages that change nothing, with the last one.
func (l *logic) take(ctx context.Context, in role.Input) error {
	source, skipped := in.Batch.Source, int64(-1)
	for _, m := range in.Messages {
		if !l.wants(m) {
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
	if skipped >= 0 {
		if err := storeOffset(l.state.store, source, skipped); err != nil {
			return fmt.Errorf("note how far %s was read: %w", source, err)
		}
	}
	return l.takeNotices(in.Notices)
}

// serves is what others are told: through which timestep the models are that are served, or waited for, and, where
// others stand by, by which ensemble, and what is scored.
func (l *logic) serves() journal.Served {
	now := journal.Served{Through: l.state.needed(l.o.Scoring.LabelLagTimesteps)}
	if l.o.Standing == nil {
		return now
	}
	if l.state.served != nil {
		now.Ensemble = l.state.served.Version
	}
	now.Scored = l.state.links.scored()
	return now
}
