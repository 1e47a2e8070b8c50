package graphs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/coordinator"
	"lethe/deletions/ledgercopy"
	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/sortedset"
	"lethe/metrics/events"
	"lethe/pipeline/wire"
	"lethe/snapshot"
)

// redact returns a record of a transaction with 0 for the features of it that are erased, and
// whether some are: then the record is to be published again, whatever becomes of it, so that
// the topic's newest of its key is the newest that came.
func (in *intake) redact(rec ingest.Record) (ingest.Record, bool) {
	if !in.store.Marks().Redacts() || rec.Value == nil {
		return rec, false
	}
	id, is := ingest.NamedIn(rec.Value)
	if !is {
		return rec, false
	}
	if _, redacted := in.store.Marks().Redacted(id); !redacted {
		return rec, false
	}
	rec.Value, _ = ingest.Redacted(rec.Value, in.store.Marks().Redacted)
	rec.Headers = nil
	return rec, true
}

// again takes a record that lethe published itself. To a store that knows the transaction it
// is no news; to one that was lost it is the record, and if nobody takes it there is a dead
// letter already.
func (in *intake) again(tx *taken, d *decoded) (events.Result, error) {
	var refusal *ingest.Refusal
	if errors.As(d.err, &refusal) {
		return events.Ignored, nil
	}
	t, is := d.event.(ingest.Transaction)
	if !is || d.err != nil {
		return events.Ignored, d.err
	}
	known, err := tx.Repeats(t.ID)
	if err != nil || known {
		return events.Ignored, err
	}
	origin := originOf(d.rec)
	origin.InPlace = true // the record whose place it has came in time
	result, refusal, err := in.judge(tx, d, origin)
	if refusal != nil {
		result = events.Ignored
	}
	return result, err
}

// planRedacted adds the forms of the rows of a closed timestep of which a request erases
// features: the row as a whole is no transaction's any more.
func (e *eraser) planRedacted(plan *coordinator.Plan, s *lethe.Snapshot, own []snapshot.Located) error {
	for _, l := range own {
		node, found := s.Find(l.Pseudonym)
		if !found || l.Kind != lethe.FeaturesTarget {
			continue
		}
		if _, changed := l.Columns.Zeroed(s.Row(node)); !changed {
			continue
		}
		forms, err := scan.NodeFingerprints(e.secret, s, []int{node})
		if err != nil {
			return err
		}
		prints := forms[0].Found[:0:0]
		for _, f := range forms[0].Found {
			if !l.Shared && (f.Kind == scan.KindFeatures || f.Kind == scan.KindFeaturesText) {
				prints = append(prints, f)
			}
		}
		if len(prints) == 0 {
			plan.NotSearched = withFeatures(plan.NotSearched)
		}
		e.planFeatures(plan, s.Row(node), prints)
	}
	return nil
}

// searchRows looks for features that are not 0 in the graphs of timesteps that were rewritten.
func searchRows(e *eraser, scanner *scan.Scanner, replaced []coordinator.Replaced) (hits []scan.FileHit, err error) {
	if !scanner.SeeksFeatures() {
		return nil, nil
	}
	infos := e.infos()
	for _, r := range replaced {
		if info, known := infos[r.Timestep]; !known || info.State == lethe.Open {
			continue // it was emptied since
		}
		content, err := e.store.Load(r.Timestep)
		if err != nil {
			return nil, err
		}
		for i, n := range content.Snapshot.Nodes {
			for _, h := range scanner.MatchRow(n.ID, content.Snapshot.Row(i)) {
				hits = append(hits, scan.FileHit{Path: snapshot.TimestepFolder(r.Timestep), Hit: h})
			}
		}
	}
	return hits, nil
}

// redactionsOf are the features that some requests erase.
func redactionsOf(entries []deletions.Entry) (out []lethe.Redaction) {
	for _, e := range entries {
		if e.Suppresses() {
			out = append(out, e.Redactions()...)
		}
	}
	return out
}

// transactionsAmong are the located that are whole transactions.
func transactionsAmong(located []snapshot.Located) (out []snapshot.Located) {
	for _, l := range located {
		if l.Kind == lethe.TransactionTarget {
			out = append(out, l)
		}
	}
	return out
}

func withFeatures(kinds []scan.Kind) []scan.Kind {
	return sortedset.Add(kinds, scan.KindFeatures, scan.KindFeaturesText)
}

// sharedRows returns the forms of the rows that a transaction that stays has too,
// of whatever timestep: finding them says nothing. The receipt names their kinds.
func (e *eraser) sharedRows(s *lethe.Snapshot, gone []snapshot.Located) (out []scan.Fingerprint, err error) {
	for _, l := range gone {
		node, found := s.Find(l.Pseudonym)
		if !found || !l.Shared {
			continue
		}
		prints, err := scan.RowFingerprints(e.secret, s.Row(node))
		if err != nil {
			return nil, err
		}
		out = append(out, prints...)
	}
	return out, nil
}

// suppressCopied has a store suppress what the ledger's copy says is erased, or being erased for good.
func suppressCopied(ctx context.Context, o Options, store *snapshot.Store) error {
	kept, err := ledgercopy.Read(ctx, o.Bus, o.Secret)
	if err != nil {
		return fmt.Errorf("the copy of the ledger: %w", err)
	}
	var entries []deletions.Entry
	for _, id := range slices.Sorted(maps.Keys(kept.Entries)) {
		e := kept.Entries[id]
		if e.Suppresses() && e.State.Cancellable() {
			continue // its command says up to where the leader had taken everything
		}
		entries = append(entries, e)
	}
	if err := suppressAsIn(store, entries); err != nil {
		return err
	}
	return store.Marks().Put(begunMark(), []byte{1})
}

// suppressAsIn has a store suppress what requests erase, or have erased, and take again what those
// have suppressed that were taken back, or are held: a process that was away has not heard of it.
func suppressAsIn(store *snapshot.Store, entries []deletions.Entry) error {
	var erased, lifted []lethe.Digest
	var subjects []lethe.SubjectUntil
	for _, e := range entries {
		if e.Suppresses() {
			erased, subjects = append(erased, e.Suppressed()...), append(subjects, e.Subjects...)
		} else {
			lifted = append(lifted, e.Suppressed()...)
		}
	}
	if len(lifted) > 0 {
		if err := store.Marks().Lift(lifted); err != nil {
			return err
		}
	}
	if err := snapshot.SuppressHashes(store, erased, subjects...); err != nil {
		return err
	}
	return store.Marks().Redact(redactionsOf(entries))
}

// command follows a command of an erasure.
func (s *standby) command(c *wire.Command) error {
	if err := c.Shares(s.o.Secret); err != nil {
		return err
	}
	if c.Phase != wire.PhaseSuppress {
		s.later = slices.DeleteFunc(s.later, func(l *wire.Command) bool { return l.RequestID == c.RequestID })
	}
	if c.Phase == wire.PhaseLift {
		delete(s.erasures, c.RequestID)
		return s.store.Marks().Lift(c.Suppressed, c.Subjects...)
	}
	if s.erasures[c.RequestID] == nil {
		s.erasures[c.RequestID] = &followed{rewritten: -1, erased: -1, scanned: -1}
	}
	s.erasures[c.RequestID].command = c
	if c.Phase == wire.PhaseSuppress {
		s.later = append(s.later, c)
		return s.suppressReached()
	}
	return s.suppress(c)
}

// suppressBefore suppresses what the leader did before it took a batch, though not all has been taken here that it had
// taken by then: so much waited that partitions did not halt for each other.
func (s *standby) suppressBefore(batch bus.Batch) error {
	return s.suppressLater(func(c *wire.Command) bool {
		taken, said := c.Taken[batch.Source.String()]
		return said && batch.Next > taken
	})
}

// suppressReached suppresses what the leader did when it had taken what was taken here.
func (s *standby) suppressReached() error {
	if len(s.later) == 0 {
		return nil
	}
	read := sourcesRead(s.store)
	return s.suppressLater(func(c *wire.Command) bool { return c.IsReached(read) })
}

// suppressLater carries out those of the commands that suppress later that are due.
func (s *standby) suppressLater(due func(c *wire.Command) bool) error {
	var rest []*wire.Command
	for _, c := range s.later {
		if !due(c) {
			rest = append(rest, c)
		} else if err := s.suppress(c); err != nil {
			return err
		}
	}
	s.later = rest
	return nil
}

// suppress takes nothing more of what a command names.
func (s *standby) suppress(c *wire.Command) error {
	if err := snapshot.SuppressHashes(s.store.(*snapshot.Store), c.Suppressed, c.Subjects...); err != nil {
		return err
	}
	return s.store.Marks().Redact(c.Redacted)
}
