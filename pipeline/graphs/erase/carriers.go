package erase

import (
	"context"
	"slices"

	"lethe"
	"lethe/internal/normalise"
	"lethe/snapshot"
)

// Carriers finds the transactions and payments that carry subjects.
type Carriers struct {
	Store  *snapshot.Store
	Secret lethe.Secret
	Names  normalise.Rule // how records are read
}

// Carried implements coordinator.Graphs.
func (e Carriers) Carried(targets []lethe.Target) (carried []lethe.Target, several int, err error) {
	carried, list, err := e.CarriedBy(targets)
	return carried, len(list), err
}

// Adopt implements coordinator.Graphs.
func (e Carriers) Adopt(ctx context.Context, targets []lethe.Target, hashes []lethe.Digest) error {
	carried, _, err := e.CarriedBy(targets)
	at := slices.IndexFunc(targets, func(t lethe.Target) bool { return t.Kind == lethe.SubjectTarget })
	if err != nil || at < 0 {
		return err
	}
	unknown := make(map[lethe.Digest]bool)
	for _, h := range hashes {
		unknown[h] = true
	}
	for _, t := range slices.Concat(targets, carried) {
		delete(unknown, e.Secret.Suppressed(t))
	}
	if len(unknown) == 0 {
		return nil
	}
	found, err := e.Store.Named(ctx, func(t lethe.Target) bool { return unknown[e.Secret.Suppressed(t)] })
	if err != nil || len(found) == 0 {
		return err
	}
	return e.Store.Marks().Subjects().Carry(targets[at], found)
}

// SubjectsOf implements coordinator.Graphs.
func (e Carriers) SubjectsOf(t lethe.Target) ([]lethe.Digest, error) {
	return e.Store.Marks().Subjects().Of(t)
}

// CarriedBy returns the carriers of the subjects among some targets, each once, and the transactions of them that carry
// other subjects too.
func (e Carriers) CarriedBy(targets []lethe.Target) (carried []lethe.Target, several []lethe.TransactionID, err error) {
	others := func(t lethe.Target) bool { return t.Kind != lethe.SubjectTarget }
	subjects := slices.DeleteFunc(slices.Clone(targets), others)
	if len(subjects) == 0 {
		return nil, nil, nil
	}
	located, err := e.Store.Locate(subjects)
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
func (e Carriers) Newest() lethe.Timestep {
	newest := lethe.NoTimestep
	for _, info := range e.Store.Timesteps() {
		newest = max(newest, info.Timestep)
	}
	// Including one that an erasure has emptied.
	for t := range e.Store.Gone() {
		newest = max(newest, t)
	}
	return newest
}

// HeldAlike returns the targets without data that have data under another spelling.
func (e Carriers) HeldAlike(ctx context.Context, targets []lethe.Target) (out []lethe.Target, err error) {
	folded := func(t lethe.Target) string {
		if t.Kind == lethe.PaymentTarget {
			return normalise.Folded(string(t.Payment.Source)) + ">" + normalise.Folded(string(t.Payment.Target))
		}
		return normalise.Folded(string(t.Transaction))
	}
	payments := false
	of := make(map[string]bool)
	var subjects []lethe.Target
	for _, t := range targets {
		if t.Kind == lethe.SubjectTarget {
			subjects = append(subjects, t)
			continue
		}
		of[folded(t)], payments = true, payments || t.Kind == lethe.PaymentTarget
	}
	if len(subjects) > 0 {
		if out, err = e.Store.Marks().Subjects().Alike(ctx, subjects); err != nil {
			return nil, err
		}
	}
	if len(of) == 0 {
		return out, nil
	}
	found, err := e.Store.Named(ctx, func(t lethe.Target) bool {
		return (payments || t.Kind != lethe.PaymentTarget) && of[folded(t)]
	})
	held := make(map[string][]lethe.Target)
	for _, t := range found {
		held[folded(t)] = append(held[folded(t)], t)
	}
	for _, t := range targets {
		// Features beyond the last column are of a transaction that is held as it is written.
		other := func(h lethe.Target) bool {
			return h.Transaction != t.Transaction || h.Payment.Source != t.Payment.Source || h.Payment.Target != t.Payment.Target
		}
		if t.Kind != lethe.SubjectTarget && slices.ContainsFunc(held[folded(t)], other) {
			out = append(out, t)
		}
	}
	return out, err
}
