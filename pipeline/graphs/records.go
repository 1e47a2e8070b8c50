package graphs

import (
	"context"
	"errors"
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/coordinator"
	"lethe/deletions/scan"
	"lethe/deletions/withdrawal"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/normalise"
	"lethe/internal/sortedset"
	"lethe/snapshot"
)

// recordsOf names the records that what goes from a graph was made of: transactions, their
// labels and every payment of theirs; and the predictions and reasons for them.
func recordsOf(s *lethe.Snapshot, gone lethe.Removal) (out []withdrawal.NamedRecord) {
	for _, n := range s.Nodes {
		if !gone.Nodes[n.Pseudonym] {
			continue
		}
		key := string(ingest.TransactionKey(n.ID))
		for _, topic := range []bus.Topic{bus.Transactions, bus.Labels, bus.Predictions, bus.Reasons} {
			out = append(out, withdrawal.NamedRecord{Topic: topic, Key: key})
		}
	}
	for _, p := range s.Payments {
		pair := s.Pair(p)
		if gone.Payments[pair] || gone.Nodes[pair.Source] || gone.Nodes[pair.Target] {
			key := string(ingest.PaymentKey(s.Nodes[p.Source].ID, s.Nodes[p.Target].ID))
			out = append(out, withdrawal.NamedRecord{Topic: bus.Transactions, Key: key})
		}
	}
	return out
}

// carriers knows what carries subjects; a part of the eraser.
type carriers struct {
	store  *snapshot.Store
	secret lethe.Secret
	names  normalise.Rule // how records are read
}

// Carried implements coordinator.Graphs.
func (e carriers) Carried(targets []lethe.Target) (carried []lethe.Target, several int, err error) {
	carried, list, err := e.carriedBy(targets)
	return carried, len(list), err
}

// Adopt implements coordinator.Graphs.
func (e carriers) Adopt(ctx context.Context, targets []lethe.Target, hashes []lethe.Digest) error {
	carried, _, err := e.carriedBy(targets)
	at := slices.IndexFunc(targets, func(t lethe.Target) bool { return t.Kind == lethe.SubjectTarget })
	if err != nil || at < 0 {
		return err
	}
	unknown := make(map[lethe.Digest]bool)
	for _, h := range hashes {
		unknown[h] = true
	}
	for _, t := range slices.Concat(targets, carried) {
		delete(unknown, e.secret.Suppressed(t))
	}
	if len(unknown) == 0 {
		return nil
	}
	found, err := e.store.Named(ctx, func(t lethe.Target) bool { return unknown[e.secret.Suppressed(t)] })
	if err != nil || len(found) == 0 {
		return err
	}
	return e.store.Marks().Carry(targets[at], found)
}

// SubjectsOf implements coordinator.Graphs.
func (e carriers) SubjectsOf(t lethe.Target) ([]lethe.Digest, error) {
	return e.store.Marks().SubjectsOf(t)
}

// carriedBy returns what carries the subjects among some targets, each once, and which of the
// transactions among that carry other subjects too.
func (e carriers) carriedBy(targets []lethe.Target) (carried []lethe.Target, several []lethe.TransactionID, err error) {
	others := func(t lethe.Target) bool { return t.Kind != lethe.SubjectTarget }
	subjects := slices.DeleteFunc(slices.Clone(targets), others)
	if len(subjects) == 0 {
		return nil, nil, nil
	}
	located, err := e.store.Locate(subjects)
	if err != nil {
		return nil, nil, err
	}
	for _, l := range located {
		carried = append(carried, l.Carried...)
		several = append(several, l.Several...)
	}
	slices.Sort(several)
	return lethe.Distinct(carried), slices.Compact(several), nil
}

// Newest implements coordinator.Graphs.
func (e carriers) Newest() lethe.Timestep {
	newest := lethe.NoTimestep
	for _, info := range e.store.Timesteps() {
		newest = max(newest, info.Timestep)
	}
	// One that an erasure has emptied was there all the same.
	for t := range e.store.Gone() {
		newest = max(newest, t)
	}
	return newest
}

// withCarried returns the targets of requests, each followed by what carries its subjects,
// which a plan has to look for as for any other target.
func (e carriers) withCarried(plans []coordinator.Plan, requests [][]lethe.Target) ([][]lethe.Target, error) {
	out := make([][]lethe.Target, len(requests))
	for i, own := range requests {
		carried, _, err := e.Carried(own)
		if err != nil {
			return nil, err
		}
		out[i] = lethe.Distinct(slices.Concat(own, carried))
		for _, t := range out[i][len(own):] {
			found, notSearched, err := scan.TargetFingerprints(e.secret, t)
			spelled, unsearched, more := scan.SpelledFingerprints(e.secret, e.names, t)
			if err = errors.Join(err, more); err != nil {
				return nil, err
			}
			plans[i].Fingerprints = slices.Concat(plans[i].Fingerprints, found, spelled)
			plans[i].NotSearched = sortedset.Add(plans[i].NotSearched, append(notSearched, unsearched...)...)
		}
	}
	return out, nil
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
