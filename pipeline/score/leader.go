package score

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/swapstore"
	"lethe/pipeline/journal"
	"lethe/pipeline/role"
	"lethe/pipeline/score/published"
	"lethe/pipeline/wire"
	"lethe/scoring"
)

// leader is the role in a leader, or in a process that has it alone.
type leader struct {
	*logic
	journal *journal.Log
	// late are the keys of late predictions of a fenced leader.
	late map[string]bool
}

// newLeader begins an epoch, or reads the journal of a process that has the role alone. A process that has not applied
// all entries becomes a standby again.
func newLeader(ctx context.Context, l *logic) (*leader, error) {
	as, out := l.o.Standing, &leader{logic: l, late: make(map[string]bool)}
	l.explaining.decide, l.explaining.onTopic = out.decide, nil
	err := as.Begin(ctx, l.o.Bus, journal.ForAll, journal.Position{}, bus.Predictions)
	if err != nil {
		return nil, err
	}
	out.journal, err = as.ReadJournal(ctx, l.o.Bus, journal.ForAll, roleName, l.o.Instance, func(e journal.Entry) {
		if served, is := e.Decision.(journal.Served); is {
			l.lastServed, l.state.scored = served, served.Scored
		}
	})
	if !l.lastServed.Ensemble.IsZero() {
		l.state.awaits = l.lastServed.Through
	}
	for t := range l.state.links {
		l.state.scored = l.state.scored.Without(t)
	}
	if err == nil && as == nil {
		err = out.recover(ctx)
	}
	l.arrivals.pass(l.state)
	if err != nil || as == nil {
		return out, err
	}
	at, err := placeOf(l.state.store)
	if err == nil && out.journal.Before().Behind(at) {
		err = as.StandByAgain()
	}
	return out, err
}

// recover reads the final predictions of what a lost folder had scored, so that they stay, until all of it is read
// again.
func (l *leader) recover(ctx context.Context) error {
	s := l.state
	_, lost, err := s.store.Get([]byte(lostKey))
	if err != nil || len(s.links) > 0 && !lost {
		return err
	}
	unread := func(t lethe.Timestep) bool { return !s.links[t].done }
	s.recovered, err = published.Recover(ctx, l.o.Bus, l.o.Secret, unread)
	if err == nil && len(s.recovered) > 0 {
		err = errors.Join(l.readCommands(ctx), l.explaining.readTopic(ctx))
	}
	if err != nil || lost == (len(s.recovered) > 0) {
		return err
	}
	return s.store.Apply(func(w swapstore.Writer) error {
		if lost {
			w.Delete([]byte(lostKey))
		} else {
			w.Set([]byte(lostKey), nil)
		}
		return nil
	})
}

// readCommands processes the commands of open erasures before graphs are read again: a graph may be without their
// targets already, and reasons not yet.
func (l *leader) readCommands(ctx context.Context) error {
	leaders, err := role.ReadLeaders(ctx, l.o.Bus)
	if err != nil {
		return err
	}
	var notices []wire.Notice
	reader := wire.NewNoticeReader().LedBy(leaders)
	err = l.o.Bus.ReadAll(ctx, bus.Control, func(rec ingest.Record) error {
		if n, err := reader.Read(rec); err == nil && !n.Late { // else the follower reports it
			notices = append(notices, n)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read open erasures: %w", err)
	}
	return l.erasing.take(notices)
}

// Step implements role.Logic. Suppression comes before scoring. All scoring and swapping that is possible comes before
// the next entry and before acknowledgements. Reasons that an erasure changes come after the acknowledgement of the
// swap and before any other.
func (l *leader) Step(ctx context.Context, now func() time.Time, in role.Input) (role.Output, error) {
	if err := l.consume(ctx, in); err != nil {
		return role.Output{}, err
	}
	if err := l.explaining.release(); err != nil {
		return role.Output{}, err
	}
	out, progressed, err := l.advance(ctx, now)
	if err == nil {
		err = l.arrivals.serve(l.state.models.served)
	}
	if err != nil || progressed {
		return out, err
	}
	if out, due, err := l.explaining.finished(ctx); err != nil || due {
		return out, err
	}
	again, err := l.overwritten(ctx)
	if err != nil || len(again) > 0 {
		return role.Output{Topic: bus.Predictions, Records: again}, err
	}
	if now := l.serves(); !now.Equal(l.lastServed) {
		if err := l.append(ctx, now); err != nil {
			return role.Output{}, err
		}
		l.lastServed = now
	}
	if out, err := l.erasing.acknowledged(ctx); err != nil || !out.Idle {
		return out, err
	}
	out, due, err := l.explaining.next(ctx)
	if err != nil || due {
		return out, err
	}
	return role.Output{Idle: true}, nil
}

// decide appends a decision to the journal, if other processes have the role. By then everything that follows from the
// previous entries is published.
func (l *leader) decide(ctx context.Context, what journal.Decision) error {
	if l.o.Standing == nil {
		return nil
	}
	return l.append(ctx, what)
}

func (l *leader) append(ctx context.Context, what journal.Decision) error {
	if err := l.journal.Append(ctx, l.o.Bus.Write, what); err != nil || l.o.Standing == nil {
		return err
	}
	return putPlace(l.state.store, l.journal.Done().Place)
}

// consume processes an input, after an entry if the input changes the state. Commands are read from the start whenever
// the role is opened: those that an entry has named need no other.
func (l *leader) consume(ctx context.Context, in role.Input) error {
	source, next := in.Batch.Source, in.Batch.Next
	if source.Topic == bus.Predictions {
		for _, rec := range in.Late {
			if !rec.Tombstone() {
				l.late[string(rec.Key)] = true
			}
		}
		return nil
	}
	named, err := offsetOf(l.state.store, source)
	isWanted := func(m wire.Received) bool { return wanted(l.state, l.erasing.requests.Open, m) }
	isNew := func(n wire.Notice) bool { return isCommand(n) && n.Offset >= named }
	if err != nil || l.o.Standing == nil ||
		!slices.ContainsFunc(in.Messages, isWanted) && !slices.ContainsFunc(in.Notices, isNew) {
		return errors.Join(err, l.take(ctx, in))
	}
	consumed := journal.Consumed{Topic: string(source.Topic), Partition: source.Partition, Next: next}
	if err := l.decide(ctx, consumed); err != nil {
		return err
	}
	return l.takeNamed(ctx, in)
}

// serves returns the journal entry for other roles, standbys, and a process that lost its folder.
func (l *leader) serves() journal.Served {
	now := journal.Served{
		Through: l.lastServed.Through, Ensemble: l.lastServed.Ensemble, Scored: l.state.links.scored(),
	}
	for _, unread := range l.state.scored {
		now.Scored = now.Scored.With(unread)
	}
	switch {
	case l.state.models.served != nil:
		now.Through, now.Ensemble = l.state.models.served.Through, l.state.models.served.Version
	case l.lastServed.Ensemble.IsZero(): // else it is served again once its models are read
		now.Through = l.state.awaited(l.o.Scoring.LabelLagTimesteps)
	}
	return now
}

// overwritten returns the final predictions that late records of a fenced leader have replaced, to be published again.
// Suppressed ones are not.
func (l *leader) overwritten(ctx context.Context) (records []ingest.Outgoing, err error) {
	if len(l.late) == 0 {
		return nil, nil
	}
	leaders, err := role.ReadLeaders(ctx, l.o.Bus)
	if err != nil {
		return nil, err
	}
	final, newest := make(map[string][]byte), make(map[string][]byte)
	err = l.o.Bus.ReadAll(ctx, bus.Predictions, func(rec ingest.Record) error {
		key, stale := string(rec.Key), leaders.Stale(bus.Predictions, rec)
		if !l.late[key] {
			return nil
		}
		newest[key] = bytes.Clone(rec.Value)
		if rec.Unauthenticated != "" {
			return nil
		}
		if rec.Tombstone() {
			delete(final, key)
		} else if p, err := scoring.DecodePrediction(rec.Value); err == nil && p.Final && !stale {
			final[key] = newest[key]
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read what was predicted: %w", err)
	}
	hides := l.state.hidden.hides(l.o.Secret)
	for _, key := range slices.Sorted(maps.Keys(final)) {
		if !bytes.Equal(final[key], newest[key]) && !hides(lethe.TransactionID(key)) {
			records = append(records, ingest.Outgoing{Key: []byte(key), Value: final[key]})
		}
	}
	clear(l.late)
	return records, nil
}
