package snapshot

import (
	"fmt"
	"maps"
	"slices"

	"lethe"
)

// Located is what a Store holds of one transaction, for planning an erasure
// and for withdrawing its records from topics.
type Located struct {
	ID        lethe.TransactionID
	Pseudonym lethe.Pseudonym
	// Known reports whether the transaction itself is here; if it is not, there
	// may still be payments and labels that name it.
	Known bool
	// Timestep, State and Features are set if it is known.
	Timestep lethe.Timestep
	State    lethe.State
	Features []float32
	// Payments are all that name it, in a graph or awaiting judgement. Those that
	// were refused are not among them.
	Payments []lethe.Payment
	// Labels are those that await judgement and, if the timestep is settled, the
	// one in the snapshot unless it is lethe.Unknown. A settled label "unknown"
	// cannot be told from none.
	Labels []lethe.LabelRecord
}

// Locate tells what is held of the transactions, in the order asked for. It
// changes nothing. One call reads staging and the timesteps concerned once,
// however many transactions are asked for.
func (s *Store) Locate(ids []lethe.TransactionID) ([]Located, error) {
	f := finder{s: s, at: make(map[lethe.Pseudonym]*Located, len(ids))}
	timesteps := map[lethe.Timestep]struct{}{}
	for _, id := range ids {
		l := &Located{ID: id, Pseudonym: s.options.Secret.Pseudonym(id)}
		f.at[l.Pseudonym] = l
		entry, known, err := s.lookup(l.Pseudonym)
		if err != nil {
			return nil, fmt.Errorf("locate: %w", err)
		}
		if known {
			l.Known, l.Timestep, l.State = true, entry.timestep, s.info(entry.timestep).State
			timesteps[l.Timestep] = struct{}{}
		}
	}
	if err := f.inStaging(); err != nil {
		return nil, fmt.Errorf("locate in staging: %w", err)
	}
	for _, t := range slices.Sorted(maps.Keys(timesteps)) {
		if s.info(t).State == lethe.Open {
			continue
		}
		if err := f.inTimestep(t); err != nil {
			return nil, fmt.Errorf("locate in timestep %d: %w", t, err)
		}
	}
	out := make([]Located, 0, len(ids))
	for _, id := range ids {
		out = append(out, *f.at[s.options.Secret.Pseudonym(id)])
	}
	return out, nil
}

// finder collects what is found, by pseudonym.
type finder struct {
	s  *Store
	at map[lethe.Pseudonym]*Located
}

// inStaging looks into open timesteps and at what awaits judgement.
func (f finder) inStaging() error {
	for p, l := range f.at {
		if !l.Known || l.State > lethe.Open {
			continue
		}
		value, _, err := f.s.staging.Get(rowKey(l.Timestep, p))
		if err != nil {
			return err
		}
		r, err := decodeRow(value)
		if err != nil {
			return err
		}
		l.Features = r.features
	}
	for kind, look := range map[byte]func(t lethe.Timestep, about []lethe.Pseudonym, value []byte) error{
		kindPayment: f.pendingPayment,
		kindLabel:   f.pendingLabel,
	} {
		err := f.s.staging.Scan([]byte{kind}, func(key, value []byte) error {
			t, err := timestepOf(key)
			if err != nil {
				return err
			}
			rest := len(key) - 1 - timestepBytes
			about, err := pseudonymsAfter(key, 1+timestepBytes, rest/pseudonymBytes)
			if err != nil {
				return err
			}
			if !slices.ContainsFunc(about, func(p lethe.Pseudonym) bool { return f.at[p] != nil }) {
				return nil
			}
			return look(t, about, value)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (f finder) pendingPayment(t lethe.Timestep, ends []lethe.Pseudonym, value []byte) error {
	p, err := decodePayment(value)
	if err != nil {
		return err
	}
	f.payment(ends, lethe.Payment{Source: p.source, Target: p.target, Timestep: t})
	return nil
}

func (f finder) pendingLabel(t lethe.Timestep, about []lethe.Pseudonym, value []byte) error {
	p, err := decodeLabel(value)
	if err != nil {
		return err
	}
	l := f.at[about[0]]
	l.Labels = append(l.Labels, lethe.LabelRecord{ID: p.id, Timestep: t, Label: p.label})
	return nil
}

// inTimestep looks into a closed timestep.
func (f finder) inTimestep(t lethe.Timestep) error {
	c, err := f.s.Load(t)
	if err != nil {
		return err
	}
	for i, n := range c.Snapshot.Nodes {
		l := f.at[n.Pseudonym]
		if l == nil {
			continue
		}
		l.Features = slices.Clone(c.Snapshot.Row(i))
		if n.Label != lethe.Unknown {
			l.Labels = append(l.Labels, lethe.LabelRecord{ID: n.ID, Timestep: t, Label: n.Label})
		}
	}
	for _, p := range c.Snapshot.Payments {
		source, target := c.Snapshot.Nodes[p.Source], c.Snapshot.Nodes[p.Target]
		ends := []lethe.Pseudonym{source.Pseudonym, target.Pseudonym}
		f.payment(ends, lethe.Payment{Source: source.ID, Target: target.ID, Timestep: t})
	}
	return nil
}

func (f finder) payment(ends []lethe.Pseudonym, p lethe.Payment) {
	for _, end := range ends {
		if l := f.at[end]; l != nil {
			l.Payments = append(l.Payments, p)
		}
	}
}
