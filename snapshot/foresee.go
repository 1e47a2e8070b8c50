package snapshot

import (
	"lethe"
	"lethe/internal/floatbytes"
	"lethe/internal/sortedcells"
	"lethe/snapshot/index"
	"lethe/snapshot/openrows"
	"lethe/snapshot/stored"
)

// Foreseen is a transaction with everything precomputed that does not depend on earlier records. Its features are
// the caller's slice and must not change before the batch that takes it is committed.
type Foreseen struct {
	tr        lethe.Transaction // without erased features
	pseudonym lethe.Pseudonym
	arrived   index.Entry
	// known is the table that Place made for all of them, nil while the number of features is unknown; entry is this
	// transaction's cell.
	known *known
	entry *sortedcells.Cell[knownEntry]
}

// Pseudonym returns the pseudonym of the transaction.
func (f *Foreseen) Pseudonym() lethe.Pseudonym { return f.pseudonym }

// known is the table of transactions placed together: their places, and the values that the batch will store.
type known = sortedcells.Table[knownEntry]

// knownEntry is the index entry and pending row of a transaction.
type knownEntry struct {
	entry index.Entry
	// found: the transaction is known. changed: the batch will store it. fresh: it was unknown before this batch.
	found, changed, fresh bool
	// row is the new row, if changed.
	row stored.Row
}

// storeKnown calls fn for every entry to be stored, kind by kind, each in ascending order. Keys and values are valid
// only during the call.
func storeKnown(k *known, files *openrows.Batch, fn func(key, value []byte)) {
	if k == nil {
		return
	}
	key, entry := make([]byte, 0, 1+timestepBytes+stored.PseudonymBytes), make([]byte, 0, index.EntryBytes)
	var head, features, value []byte
	for i := range k.Cells {
		e := &k.Cells[i]
		if !e.Value.changed {
			continue
		}
		fn(append(append(key, index.Kind), e.Key[:]...), e.Value.entry.AppendTo(entry))
	}
	for i := range k.Cells {
		p, e := k.Cells[i].Key, &k.Cells[i].Value
		if !e.changed {
			continue
		}
		head, features = e.row.AppendHead(head[:0]), floatbytes.View(features[:0], e.row.Features)
		if e.fresh && files != nil && files.Put(e.entry.Timestep, p, head, features) {
			continue
		}
		value = append(append(value[:0], head...), features...)
		fn(appendTimestepKey(key, kindRow, e.entry.Timestep, p), value)
	}
}

// knownUnder looks a key up in the table; is reports whether the table covers the key.
func knownUnder(k *known, key []byte) (value []byte, found, is bool) {
	switch {
	case k == nil:
		return nil, false, false
	case key[0] == index.Kind:
		if e := k.Find(sortedcells.Key(key[1:])); e != nil {
			return e.Value.entry.Encode(), e.Value.found, true
		}
	case key[0] == kindRow:
		e := k.Find(sortedcells.Key(key[1+timestepBytes:]))
		if e == nil || !e.Value.changed {
			return nil, false, false
		}
		t, err := timestepOf(key)
		return e.Value.row.Encode(), true, err == nil && t == e.Value.entry.Timestep
	}
	return nil, false, false
}

// Hashing precomputes everything that does not depend on other records. Use it from one goroutine at a time.
type Hashing struct {
	// staging is nil if no features are erased.
	staging *staging
	names   lethe.Pseudonymizer
	content index.Hashing
	// scratch is a buffer for feature bytes, used on machines where they cannot be viewed in place.
	scratch []byte
}

// NewHashing returns a Hashing that may be used while the owner uses the store. It requires a store without erased
// features: if Redacts reports some by the time of use, its Foreseen transactions must be discarded.
func (m Marks) NewHashing() *Hashing {
	secret := m.staging.options.Secret
	return &Hashing{names: secret.Pseudonymizer(), content: index.NewHashing(secret)}
}

// NewRedactingHashing returns a Hashing that zeroes erased features, for use while the owner of the store waits.
func (m Marks) NewRedactingHashing() *Hashing {
	h := m.NewHashing()
	h.staging = m.staging
	return h
}

// Foresee precomputes everything that does not depend on earlier records.
func (h *Hashing) Foresee(tr lethe.Transaction) Foreseen {
	if h.staging != nil {
		tr = h.staging.redacted(tr)
	}
	features := floatbytes.View(h.scratch[:0], tr.Features)
	return Foreseen{
		tr: tr, pseudonym: h.names.Pseudonym(tr.ID),
		arrived: index.Entry{Timestep: tr.Timestep, Content: h.content.Content(features)},
	}
}

// Repeats reports whether the store knows a transaction. A record of it that lethe itself
// republished then carries no information.
func (b *Batch) Repeats(id lethe.TransactionID) (bool, error) {
	_, known, err := index.Lookup(b.get, b.names.Pseudonym(id))
	return known, err
}

// RepeatsLabel reports whether the store knows a label of a transaction in a timestep.
func (b *Batch) RepeatsLabel(l lethe.LabelRecord) (bool, error) {
	known, label, pending, err := b.knownLabel(l.Timestep, b.names.Pseudonym(l.ID), true)
	return known && (pending != nil || label != lethe.Unknown), err
}
