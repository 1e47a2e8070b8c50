package snapshot

import (
	"bytes"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"lethe"
	"lethe/internal/swapstore"
)

// Foreseen is a transaction of which all that does not depend on the records before it was
// worked out.
type Foreseen struct {
	tr        lethe.Transaction // without erased features
	pseudonym lethe.Pseudonym
	arrived   indexEntry
	// row is tr as it will be stored.
	row []byte
}

// Foresee works out what a batch needs of transactions, by so many goroutines, and reads what
// staging knows of them. What becomes of a transaction does not depend on whether it was
// foreseen, nor by how many. An error is one of reading the store.
func Foresee(b *Batch, list []lethe.Transaction, workers int) ([]Foreseen, error) {
	if len(b.writes) == 0 {
		const each = 3 // row, index entry, count of its content
		b.writes = make(map[string][]byte, each*len(list))
	}
	out := make([]Foreseen, len(list))
	var working errgroup.Group
	size := (len(list) + workers - 1) / max(workers, 1)
	for at := 0; at < len(list); at += size {
		part, into := list[at:min(at+size, len(list))], out[at:]
		working.Go(func() error {
			hashing := newHashing(b.staging)
			for i, tr := range part {
				into[i] = hashing.foresee(tr)
			}
			return nil
		})
	}
	if err := working.Wait(); err != nil {
		return nil, err
	}
	return out, readAhead(b, out)
}

// Take is Batch.Transaction of it, by the batch that it was foreseen for.
func (f Foreseen) Take(b *Batch, o Origin) (Verdict, error) {
	tr := f.tr
	at, v, err := b.admit(Transactions, tr.Timestep, o, tr.Subjects, tr.ID)
	if v.Late {
		v.Late, err = b.wouldTake(tr)
	}
	if err != nil || v.Outcome != "" {
		return v, err
	}
	if v := b.fits(len(tr.Features), o); v.Outcome != "" {
		return v, nil
	}
	carrier := carrier{tr.Timestep, []lethe.Pseudonym{f.pseudonym}, []lethe.TransactionID{tr.ID}}
	if b.featureCount == 0 {
		v, err := b.candidate(f.pseudonym, tr, f.arrived, at, o)
		if err == nil && v.Outcome != Refused {
			b.carry(carrier, tr.Subjects)
		}
		if err != nil {
			err = fmt.Errorf("timestep %d: transaction: %w", tr.Timestep, err)
		}
		return v, err
	}
	entry, known, err := lookup(b.get, f.pseudonym)
	same := false
	if err == nil && known {
		same, err = isKnown(b, f.pseudonym, tr.ID, entry, f.arrived)
	}
	late, isLate := b.refused(at)
	switch {
	case err != nil:
		return Verdict{}, fmt.Errorf("timestep %d: transaction: %w", tr.Timestep, err)
	case same:
		b.carry(carrier, tr.Subjects)
		return Verdict{Outcome: Duplicate}, nil
	case known && entry.timestep != tr.Timestep:
		return conflict(o, tr.Timestep, entry.timestep), nil
	case isLate:
		return refuse(o, ReasonLate, late), nil
	}
	if detail, refused := (beginning{b}).refused(tr.Timestep); refused {
		return refuse(o, ReasonTooManyOpen, detail), nil
	}
	b.carry(carrier, tr.Subjects)
	if err := b.store(f, entry, known); err != nil {
		return Verdict{}, fmt.Errorf("timestep %d: transaction: %w", tr.Timestep, err)
	}
	return Verdict{Outcome: Accepted}, nil
}

// readAhead reads what will be asked of staging: whether transactions are known, and how many
// have their contents.
func readAhead(b *Batch, list []Foreseen) error {
	if b.featureCount == 0 {
		return nil
	}
	var keys [2][][]byte
	for _, f := range list {
		keys[0] = append(keys[0], pseudonymKey(kindIndex, f.pseudonym))
		keys[1] = append(keys[1], alikeKey(f.arrived.hash))
	}
	var found [2][]swapstore.Found
	var reading errgroup.Group
	for i, part := range keys {
		reading.Go(func() (err error) {
			slices.SortFunc(part, bytes.Compare)
			found[i], err = b.staging.Lookup(part)
			return err
		})
	}
	if err := reading.Wait(); err != nil {
		return err
	}
	b.foreseen = make(map[string]swapstore.Found, 2*len(list))
	for i, part := range keys {
		for k, key := range part {
			b.foreseen[string(key)] = found[i][k]
		}
	}
	return nil
}

// hashing works out what does not depend on other records. It is for one goroutine.
type hashing struct {
	staging *staging
	names   lethe.Pseudonymizer
	content lethe.Hasher
}

func newHashing(s *staging) hashing {
	return hashing{s, s.options.Secret.Pseudonymizer(), s.options.Secret.Hasher(contentPurpose)}
}

func (h hashing) foresee(tr lethe.Transaction) Foreseen {
	tr = redacted(h.staging, tr)
	row := encodeRow(tr.ID, tr.Features)
	features := row[len(row)-featureBytes*len(tr.Features):]
	return Foreseen{tr, h.names.Pseudonym(tr.ID), indexEntry{tr.Timestep, contentOf(h.content, features)}, row}
}

// Repeats reports whether the store knows a transaction: then a record of it that lethe has
// published again tells nothing.
func (b *Batch) Repeats(id lethe.TransactionID) (bool, error) {
	p := b.staging.options.Secret.Pseudonym(id)
	_, known, err := lookup(b.get, p)
	if err != nil || known {
		return known, err
	}
	for key := range b.writes {
		known = known || key[0] == kindCandidate && bytes.HasPrefix([]byte(key[1:]), p[:])
	}
	err = widths{b.staging}.candidates(p, func(candidate) error {
		known = true
		return nil
	})
	return known, err
}

// isKnown reports whether a transaction that arrived is what the store knows of it. Between the
// suppression of its features and the rewriting the store still has their values: they count as
// the 0 that they become, so that a record that comes again is not taken for a correction.
func isKnown(b *Batch, p lethe.Pseudonym, id lethe.TransactionID, known, arrived indexEntry) (bool, error) {
	columns, erased := redactedOf(b.staging, id)
	if known == arrived || known.timestep != arrived.timestep || !erased {
		return known == arrived, nil
	}
	value, found, err := b.get(timestepKey(kindRow, known.timestep, p))
	if err == nil && !found {
		value, found, err = b.getClosed(known.timestep, lethe.Closed, pseudonymKey(kindNode, p))
	}
	if err != nil || !found {
		return false, err
	}
	return becomes(b, value, columns, arrived)
}

// becomes reports whether a stored row has the content that arrived once some columns are 0.
func becomes(b *Batch, stored []byte, columns lethe.Columns, arrived indexEntry) (bool, error) {
	r, err := decodeRow(stored)
	if err != nil {
		return false, fmt.Errorf("row of timestep %d: %w", arrived.timestep, err)
	}
	zeroed, _ := columns.Zeroed(r.features)
	return hashContent(b.staging.options.Secret, zeroed) == arrived.hash, nil
}
