package snapshot

import (
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/internal/sortedset"
	"lethe/snapshot/index"
)

// review judges payments or labels that are in no graph: whether they are rejected, and why. The
// judgement is a function of the transactions of closed timesteps and is repeated whenever these
// change.
type review struct {
	*changes
	kind byte
	// horizon is the newest timestep to be judged; later ones are still open.
	horizon lethe.Timestep
	// now is the timestep that is changing. Entries that wait for another closed timestep are judged
	// when that one changes.
	now lethe.Timestep
	// arrived holds the transactions that may be new, or is nil.
	arrived *lethe.Snapshot
	// receded is set if the horizon may have moved back.
	receded bool
	// touched holds the changed letters, keyed by the transactions they name.
	touched map[string]storedLetter
}

// judge adds the new judgements of payments or labels that are in no graph to the changes.
// Entries that the changes drop are now in a graph.
func (c *review) judge() error {
	c.touched = make(map[string]storedLetter)
	through := c.horizon
	if c.receded {
		through = lethe.MaxTimestep
	}
	if err := c.staging.scanThrough(c.kind, through, c.judgeOne); err != nil {
		return err
	}
	for _, i := range c.timesteps() {
		if i.known() || i.Timestep > c.horizon {
			continue
		}
		if c.kind == kindPayment {
			i.Payments = 0
		} else {
			i.Labels = 0
		}
		c.infos[i.Timestep] = i
	}
	return c.addLetters()
}

// judgeOne judges one payment or label.
func (c *review) judgeOne(e staged) error {
	dropped := c.dropped(e.key)
	if !dropped && c.unchanged(e) {
		return nil
	}
	origin, old, err := decodePending(c.kind, e.value)
	if err != nil {
		return err
	}
	var next judgement
	if !dropped && e.at <= c.horizon {
		next.judged = true
		reason, detail, err := c.reason(e)
		if err != nil {
			return err
		}
		next.letter = reason + ": " + detail // the detail may change: which end is unknown
	}
	if old.judged && !next.judged && !dropped {
		c.unjudged = sortedset.Add(c.unjudged, e.at)
	}
	if !dropped {
		c.set(e.key, next.replace(old, e.value))
	}
	if next.letter != old.letter || next.letter != "" && !old.judged {
		origin.Value = nil
		c.touched[string(aboutOf(e))] = storedLetter{e.about, Letter{Refusal{Origin: origin}, true}}
	}
	return nil
}

// unchanged reports whether the judgement of a payment or label stays the same.
func (c *review) unchanged(e staged) bool {
	judged := isJudged(e.value)
	switch {
	case e.at > c.horizon:
		return !judged
	case judged:
		return !c.concerns(e.about)
	default:
		return e.at != c.now && c.info(e.at).known()
	}
}

// addLetters adds a letter for everything touched: the letter of the latest timestep, or a
// withdrawal if no refusal remains.
func (c *review) addLetters() error {
	if len(c.touched) == 0 {
		return nil
	}
	err := c.staging.scanThrough(c.kind, c.horizon, func(e staged) error {
		about := string(aboutOf(e))
		if _, touched := c.touched[about]; !touched || c.dropped(e.key) {
			return nil
		}
		if value := c.writes[string(e.key)]; value != nil {
			e.value = value
		}
		origin, s, err := decodePending(c.kind, e.value)
		if err != nil || s.letter == "" {
			return err
		}
		reason, detail, err := c.reason(e)
		c.touched[about] = storedLetter{e.about, Letter{Refusal: Refusal{origin, reason, detail}}}
		return err
	})
	for _, about := range slices.Sorted(maps.Keys(c.touched)) {
		c.letters = append(c.letters, c.touched[about])
	}
	return err
}

// aboutOf is the part of an entry's key that names its transactions.
func aboutOf(e staged) []byte { return e.key[1+timestepBytes:] }

// concerns reports whether one of the transactions may have arrived.
func (c *review) concerns(about []lethe.Pseudonym) bool {
	return c.arrived != nil && slices.ContainsFunc(about, func(p lethe.Pseudonym) bool {
		_, found := c.arrived.Find(p)
		return found
	})
}

// reason returns why a payment or label is in no graph. Transactions of open timesteps count as
// unknown: which of them have arrived depends on how partitions interleave.
func (c *review) reason(e staged) (reason, detail string, err error) {
	if c.kind == kindLabel {
		at, known, err := c.closedTimestepOf(e.about[0])
		if known {
			return ReasonCrossTimestep, fmt.Sprintf("label of timestep %d, transaction is of %d", e.at, at), err
		}
		return ReasonUnknownTransaction, fmt.Sprintf("label of timestep %d", e.at), err
	}
	for i, end := range e.about {
		side := [...]string{"source", "target"}[i]
		at, known, err := c.closedTimestepOf(end)
		switch {
		case err != nil:
			return "", "", err
		case !known:
			return ReasonUnknownEndpoint, fmt.Sprintf("payment of timestep %d, %s is not known", e.at, side), nil
		case at != e.at:
			detail = fmt.Sprintf("payment of timestep %d, %s is of %d", e.at, side, at)
		}
	}
	return ReasonCrossTimestep, detail, nil
}

// closedTimestepOf returns a transaction's timestep if it is closed.
func (c *review) closedTimestepOf(p lethe.Pseudonym) (lethe.Timestep, bool, error) {
	entry, known, err := index.Lookup(c.staging.Get, p)
	return entry.Timestep, known && c.info(entry.Timestep).State > lethe.Open, err
}

// decodePending returns the origin and judgement of a pending payment or label.
func decodePending(kind byte, value []byte) (Origin, judgement, error) {
	if kind == kindPayment {
		p, err := decodePayment(value)
		return p.origin, p.judgement, err
	}
	p, err := decodeLabel(value)
	return p.origin, p.judgement, err
}

// replace returns the stored value with the old judgement replaced by this one.
func (s judgement) replace(old judgement, value []byte) []byte {
	kept := value[:len(value)-len(old.appendTo(nil))]
	return s.appendTo(slices.Clone(kept))
}

// judgeAll judges payments and labels after timestep now changed and transactions may have
// arrived.
func (c *changes) judgeAll(now lethe.Timestep, arrived *lethe.Snapshot, receded bool) error {
	// The fixed order keeps the order of letters deterministic.
	for _, of := range []struct {
		kind  byte
		state lethe.State
	}{{kindPayment, lethe.Closed}, {kindLabel, lethe.Settled}} {
		r := review{
			changes: c, kind: of.kind, horizon: c.newest(of.state), now: now, arrived: arrived, receded: receded,
		}
		if err := r.judge(); err != nil {
			return err
		}
	}
	return nil
}

// CheckStaging reads everything outside the graphs, so that a damaged block or file is found.
// Error: ErrCorrupt.
func (s *Store) CheckStaging() error {
	if err := s.staging.scanAll(func(byte, []byte) error { return nil }); err != nil {
		return fmt.Errorf("staging: %w", err)
	}
	return nil
}
