package snapshot

import (
	"bytes"

	"lethe"
	"lethe/internal/floatbytes"
	"lethe/internal/sortedcells"
	"lethe/snapshot/index"
	"lethe/snapshot/openrows"
	"lethe/snapshot/stored"
)

// Foreseen is a transaction of which all that does not depend on the records before it was
// worked out. Its features are those that were given, and must not change before the batch is committed that takes it.
type Foreseen struct {
	tr        lethe.Transaction // without erased features
	pseudonym lethe.Pseudonym
	arrived   index.Entry
	// known is what place made of all of them, nil while the number of features is not known; entry is this one's.
	known *known
	entry *sortedcells.Cell[knownEntry]
}

// Pseudonym returns the transaction's.
func (f *Foreseen) Pseudonym() lethe.Pseudonym { return f.pseudonym }

// known is where the transactions are that were foreseen together, and what a batch stores of them.
type known = sortedcells.Table[knownEntry]

// knownEntry is where a transaction is, by pseudonym.
type knownEntry struct {
	entry index.Entry
	// found is unset while the transaction is not known, changed until the batch stores it. Who is fresh was not known
	// before the batch.
	found, changed, fresh bool
	// row is its row, if it changed.
	row stored.Row
}

// Place reads, for a batch that is to take transactions, what staging knows of all of them. What becomes of a
// transaction does not depend on whether it was placed, nor with how many others. An error is one of reading the store.
func Place(b *Batch, list []*Foreseen) error {
	if b.featureCount == 0 {
		return nil
	}
	// Others may have been foreseen before.
	_ = eachKnown(b.known, func(key, value []byte) error {
		b.staging.index.Know(key)
		b.set(key, bytes.Clone(value))
		return nil
	})
	short := make([]sortedcells.Key, len(list))
	for i := range list {
		short[i] = sortedcells.Key(list[i].pseudonym)
	}
	table, cells := sortedcells.Of[knownEntry](short)
	for i := range list {
		list[i].known, list[i].entry = table, cells[i]
	}
	b.known = table
	return readKnown(b, table)
}

// readKnown reads what staging knows of transactions.
func readKnown(b *Batch, table *known) error {
	if err := b.staging.index.Learn(); err != nil {
		return err
	}
	var cells []*sortedcells.Cell[knownEntry]
	for i := range table.Cells {
		if c := &table.Cells[i]; b.staging.index.MayKnow(c.Key) {
			cells = append(cells, c)
		}
	}
	const keyBytes = 1 + stored.PseudonymBytes
	room, keys := make([]byte, 0, len(cells)*keyBytes), make([][]byte, len(cells))
	for i, c := range cells {
		room = append(append(room, index.Kind), c.Key[:]...)
		keys[i] = room[len(room)-keyBytes:]
	}
	found, err := b.staging.Lookup(keys)
	for i := 0; i < len(found) && err == nil; i++ {
		value, written := b.writes[string(keys[i])]
		if !written {
			value = found[i].Value
		}
		if written || found[i].Found {
			e := &cells[i].Value
			e.found = true
			e.entry, err = index.Decode(value)
		}
	}
	return err
}

// eachKnown calls fn for all that is to be stored of transactions, kind by kind, each ascending. Keys and values are
// valid during the call alone.
func eachKnown(k *known, fn func(key, value []byte) error) error {
	return storeKnown(k, nil, fn)
}

// storeKnown is eachKnown but for the rows that go to files.
func storeKnown(k *known, files *openrows.Batch, fn func(key, value []byte) error) error {
	if k == nil {
		return nil
	}
	key, entry := make([]byte, 0, 1+timestepBytes+stored.PseudonymBytes), make([]byte, 0, index.EntryBytes)
	var head, features, value []byte
	for i := range k.Cells {
		e := &k.Cells[i]
		if !e.Value.changed {
			continue
		}
		if err := fn(append(append(key, index.Kind), e.Key[:]...), e.Value.entry.AppendTo(entry)); err != nil {
			return err
		}
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
		if err := fn(appendTimestepKey(key, kindRow, e.entry.Timestep, p), value); err != nil {
			return err
		}
	}
	return nil
}

// filesFor returns a batch of rows for those of a batch that are of open timesteps and were not known before: the row
// of another one may be in a file already, or wait for a timestep that is closed.
func filesFor(b *Batch) *openrows.Batch {
	files := b.staging.rows.NewBatch()
	if b.known == nil {
		return files
	}
	for i := range b.known.Cells {
		e := &b.known.Cells[i].Value
		e.fresh = e.fresh && b.info(e.entry.Timestep).State == lethe.Open
		if e.fresh {
			files.Expect(e.entry.Timestep, e.row.Bytes())
		}
	}
	return files
}

// knownUnder returns what is known under a key, if it is one of what is known.
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

// Hashing works out what does not depend on other records. It is for one goroutine.
type Hashing struct {
	// staging is nil if no features are erased.
	staging *staging
	names   lethe.Pseudonymizer
	content index.Hashing
	// scratch is memory for the bytes of features, on machines that need some.
	scratch []byte
}

// NewHashing returns one that may be used while the owner of the store does something else. It is for a store in which
// no features are erased: if Redacts tells that some are by now, what it has foreseen is not to be taken.
func (m Marks) NewHashing() *Hashing {
	secret := m.staging.options.Secret
	return &Hashing{names: secret.Pseudonymizer(), content: index.NewHashing(secret)}
}

// NewRedactingHashing returns one with 0 for features that are erased, to be used while the owner of the store waits.
func (m Marks) NewRedactingHashing() *Hashing {
	h := m.NewHashing()
	h.staging = m.staging
	return h
}

// Foresee works out of a transaction what does not depend on the records before it.
func (h *Hashing) Foresee(tr lethe.Transaction) Foreseen {
	if h.staging != nil {
		tr = redacted(h.staging, tr)
	}
	features := floatbytes.View(h.scratch[:0], tr.Features)
	return Foreseen{
		tr: tr, pseudonym: h.names.Pseudonym(tr.ID), arrived: index.Entry{Timestep: tr.Timestep, Content: h.content.Content(features)},
	}
}

// Repeats reports whether the store knows a transaction: then a record of it that lethe has
// published again tells nothing.
func (b *Batch) Repeats(id lethe.TransactionID) (bool, error) {
	p := b.staging.options.Secret.Pseudonym(id)
	_, known, err := index.Lookup(b.get, p)
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

// RepeatsLabel reports whether the store knows a label of a transaction in a timestep.
func RepeatsLabel(b *Batch, l lethe.LabelRecord) (bool, error) {
	known, _, _, err := b.knownLabel(l.Timestep, b.staging.options.Secret.Pseudonym(l.ID), true)
	return known, err
}
