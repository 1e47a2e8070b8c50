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

// Decisions appends the leader's changes to the journal before they are applied, so that all stores are a function of
// the journal. An entry that publishes is appended only once the artefacts of all previous entries are published,
// except those that it lists as unsent; so a new leader publishes the artefacts of the last such entry again, and
// those listed in it. A process that has the role alone appends the number of features only.
type Decisions struct {
	Journal *journal.Log
	Store   *snapshot.Store
	// Shared means that other processes have the role too.
	Shared bool
	// FeatureCount is the number of features in the journal, or 0.
	FeatureCount int
	Write        journal.Write
	// Letters publishes the dead letters in the store.
	Letters func(ctx context.Context) error
	// Unsent returns the timesteps that are being published.
	Unsent func() []lethe.Timestep
}

// IsShared reports whether other processes have the role. Nil is not shared.
func (d *Decisions) IsShared() bool { return d != nil && d.Shared }

// PublishLetters publishes dead letters of previous changes, as required before an entry.
func (d *Decisions) PublishLetters(ctx context.Context) error {
	if !d.IsShared() {
		return nil
	}
	return d.Letters(ctx)
}

// Decide appends a decision, calls do, which changes the store as the standby's replay of the entry does, and stores
// the entry's place. In a process that has the role alone it only calls do.
func (d *Decisions) Decide(ctx context.Context, what journal.Decision, do func() error) error {
	if !d.IsShared() {
		return do()
	}
	if err := d.PublishLetters(ctx); err != nil {
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

// Change is Decide for a change of timesteps. It stores the marks of the entry too; a process that has the role alone
// stores marks once it has published (Publisher.Note).
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

// Features appends the number of features: that of the journal or, if there is none, that of a transaction.
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

// Position returns the position of the last entry that a store has applied.
func Position(store *snapshot.Store) (p journal.Position, err error) {
	value, _, err := store.Marks().Get(positionMark())
	place, next := journal.CutPlace(value)
	if len(next) > 0 {
		p = journal.Position{Place: place, Next: int64(binary.BigEndian.Uint64(next))}
	}
	return p, err
}

// PutPosition stores a position, after its entry was applied. An entry that is applied again changes nothing.
func PutPosition(store *snapshot.Store, p journal.Position) error {
	value := binary.BigEndian.AppendUint64(p.AppendTo(nil), uint64(p.Next))
	return store.Marks().PutUnsynced(snapshot.Mark{Key: positionMark(), Value: value})
}

func doingMark() []byte { return []byte("journal/doing") }

// Begins stores that an entry is being applied; first is false if a crash interrupted it before. Dead letters that the
// store has are then the entry's own and are not published yet; else they are of previous entries. Applying a batch
// stores no letters: its letters are published before its entry.
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
