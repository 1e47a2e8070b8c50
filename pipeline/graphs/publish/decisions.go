package publish

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"

	"lethe"
	"lethe/pipeline/journal"
	"lethe/snapshot"
)

// Decisions are what the process that leads writes to the journal before it does it, so that all stores are a function
// of the journal. An entry is appended only once what those before it ask for is published, but for what the entry
// names as unsent; so what is left to whoever takes over is to publish again what the last one asks for. A process that
// shares the role with no other has the number of features alone in the journal.
type Decisions struct {
	Journal *journal.Log
	Store   *snapshot.Store
	// Shared says that other processes stand by.
	Shared bool
	// FeatureCount is the number of features that was decided, or 0.
	FeatureCount int
	Write        journal.Write
	// Letters publishes the dead letters of the store.
	Letters func(ctx context.Context) error
	// Unsent are the timesteps of which something is being published.
	Unsent func() []lethe.Timestep
}

// IsShared may be called of nil.
func (d *Decisions) IsShared() bool { return d != nil && d.Shared }

// Settle publishes the dead letters of what was done before, as an entry says that it is.
func (d *Decisions) Settle(ctx context.Context) error {
	if !d.IsShared() {
		return nil
	}
	return d.Letters(ctx)
}

// Decide does something once the journal says so.
func (d *Decisions) Decide(ctx context.Context, what journal.Decision, do func() error) error {
	if !d.IsShared() {
		return do()
	}
	if err := d.Settle(ctx); err != nil {
		return err
	}
	if err := d.Journal.Append(ctx, d.Write, what); err != nil {
		return err
	}
	if _, err := Begins(d.Store, what, d.Journal.Done()); err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	return PutPosition(d.Store, d.Journal.Done())
}

// Change decides what becomes of timesteps. What the entry says of what is published is noted at once.
func (d *Decisions) Change(ctx context.Context, what journal.TimestepsChanged, do func() error) error {
	if !d.IsShared() {
		return do()
	}
	if what.Publishes() {
		what.Unsent = d.Unsent()
	}
	return d.Decide(ctx, what, func() error {
		if err := do(); err != nil {
			return err
		}
		return d.Store.Marks().PutUnsynced(MarksOf(what)...)
	})
}

// Features decides the number of features: what was decided before or, if nothing was, that of a transaction.
func (d *Decisions) Features(ctx context.Context, first int) error {
	count := cmp.Or(d.FeatureCount, first)
	if count == 0 {
		return nil
	}
	fix := func() error { return d.Store.Marks().FixFeatureCount(count) }
	if d.Shared || d.FeatureCount == count {
		return d.Decide(ctx, journal.FeaturesDecided{Count: count}, fix)
	}
	if err := d.Journal.Append(ctx, d.Write, journal.FeaturesDecided{Count: count}); err != nil {
		return err
	}
	return fix()
}

func positionMark() []byte { return []byte("journal") }

// Position is the last entry of the journal that a store has done.
func Position(store *snapshot.Store) (p journal.Position, err error) {
	value, _, err := store.Marks().Get(positionMark())
	place, next := journal.CutPlace(value)
	if len(next) > 0 {
		p = journal.Position{Place: place, Next: int64(binary.BigEndian.Uint64(next))}
	}
	return p, err
}

// PutPosition follows what an entry asks for. After a crash in between the entry is done again, which changes nothing.
func PutPosition(store *snapshot.Store, p journal.Position) error {
	value := binary.BigEndian.AppendUint64(p.AppendTo(nil), uint64(p.Next))
	return store.Marks().PutUnsynced(snapshot.Mark{Key: positionMark(), Value: value})
}

func doingMark() []byte { return []byte("journal/doing") }

// Begins notes that an entry is being done, and reports whether it was not before a crash: the dead letters that it
// made then are not published, as those of entries before it are. A batch makes none, and would be outdated.
func Begins(store *snapshot.Store, what journal.Decision, at journal.Position) (first bool, err error) {
	if _, is := what.(journal.Consumed); is {
		return true, nil
	}
	value := fmt.Appendf(nil, "%d/%d", at.Epoch, at.Number)
	before, _, err := store.Marks().Get(doingMark())
	if err != nil || bytes.Equal(before, value) {
		return false, err
	}
	return true, store.Marks().PutUnsynced(snapshot.Mark{Key: doingMark(), Value: value})
}
