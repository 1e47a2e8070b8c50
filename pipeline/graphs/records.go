package graphs

import (
	"context"
	"slices"

	"lethe"
	"lethe/deletions/coordinator"
	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/sortedset"
)

// recordsOf names the records that what goes from a graph was made of: transactions, their
// labels and every payment of theirs; and the predictions and reasons for them.
func recordsOf(s *lethe.Snapshot, gone lethe.Removal) (out []coordinator.NamedRecord) {
	for _, n := range s.Nodes {
		if !gone.Nodes[n.Pseudonym] {
			continue
		}
		key := string(ingest.TransactionKey(n.ID))
		for _, topic := range []bus.Topic{bus.Transactions, bus.Labels, bus.Predictions, bus.Reasons} {
			out = append(out, coordinator.NamedRecord{Topic: topic, Key: key})
		}
	}
	for _, p := range s.Payments {
		pair := s.Pair(p)
		if gone.Payments[pair] || gone.Nodes[pair.Source] || gone.Nodes[pair.Target] {
			key := ingest.PaymentKey(s.Nodes[p.Source].ID, s.Nodes[p.Target].ID)
			out = append(out, coordinator.NamedRecord{Topic: bus.Transactions, Key: string(key)})
		}
	}
	return out
}

// carriers knows what carries subjects; a part of the eraser.
type carriers struct {
	store  Store
	secret lethe.Secret
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
	found, err := e.store.NamedUnder(ctx, unknown)
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
			if err != nil {
				return nil, err
			}
			plans[i].Fingerprints = append(plans[i].Fingerprints, found...)
			plans[i].NotSearched = sortedset.Add(plans[i].NotSearched, notSearched...)
		}
	}
	return out, nil
}
