package snapshot

import (
	"bytes"
	"fmt"

	"lethe"
	"lethe/internal/sortedcells"
	"lethe/snapshot/closed"
	"lethe/snapshot/index"
	"lethe/snapshot/openrows"
	"lethe/snapshot/stored"
)

// overlay reads staging and graphs as they will be after a batch. It never deletes a key.
type overlay struct {
	*changes
	closed graphs
	// known overlays writes with the transactions that were placed together, see Place.
	known *known
}

// get reads staging as it will be after Commit.
func (o *overlay) get(key []byte) (value []byte, found bool, err error) {
	if value, found, is := knownUnder(o.known, key); is {
		return value, found, nil
	}
	if value, found := o.writes[string(key)]; found {
		return value, true, nil
	}
	return o.staging.Get(key)
}

// Place reads the index entries of transactions in one lookup before a batch takes them. The verdicts do not depend
// on whether, or with how many others, a transaction was placed. Errors are those of reading the store.
func (o *overlay) Place(list []*Foreseen) error {
	// Keep the results of the previous call of Place.
	storeKnown(o.known, nil, func(key, value []byte) {
		o.staging.index.Know(key)
		o.set(key, bytes.Clone(value))
	})
	short := make([]sortedcells.Key, len(list))
	for i := range list {
		short[i] = sortedcells.Key(list[i].pseudonym)
	}
	table, cells := sortedcells.Of[knownEntry](short)
	for i := range list {
		list[i].known, list[i].entry = table, cells[i]
	}
	o.known = table
	return o.readKnown(table)
}

// readKnown reads the index entries of the table's transactions.
func (o *overlay) readKnown(table *known) error {
	if err := o.staging.index.Learn(); err != nil {
		return err
	}
	var cells []*sortedcells.Cell[knownEntry]
	for i := range table.Cells {
		if c := &table.Cells[i]; o.staging.index.MayKnow(c.Key) {
			cells = append(cells, c)
		}
	}
	const keyBytes = 1 + stored.PseudonymBytes
	room, keys := make([]byte, 0, len(cells)*keyBytes), make([][]byte, len(cells))
	for i, c := range cells {
		room = append(append(room, index.Kind), c.Key[:]...)
		keys[i] = room[len(room)-keyBytes:]
	}
	found, err := o.staging.Lookup(keys)
	for i := 0; i < len(found) && err == nil; i++ {
		value, written := o.writes[string(keys[i])]
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

// rowFiles returns a file batch for the new rows of open timesteps. Other rows cannot go to a file: one may already
// be in a file, or wait for a closed timestep.
func (o *overlay) rowFiles() *openrows.Batch {
	files := o.staging.rows.NewBatch()
	if o.known == nil {
		return files
	}
	for i := range o.known.Cells {
		e := &o.known.Cells[i].Value
		e.fresh = e.fresh && o.info(e.entry.Timestep).State == lethe.Open
		if e.fresh {
			files.Expect(e.entry.Timestep, e.row.Bytes())
		}
	}
	return files
}

// isKnown reports whether an arriving transaction equals the stored one. Between the suppression
// of features and the rewrite, the store still has their values; they are compared as 0, so that
// a redelivered record is not mistaken for a correction.
func (o *overlay) isKnown(
	p lethe.Pseudonym, id lethe.TransactionID, known, arrived index.Entry,
) (bool, error) {
	columns, erased := o.staging.suppressed.Redacted(id)
	if known == arrived || known.Timestep != arrived.Timestep || !erased {
		return known == arrived, nil
	}
	value, found, err := o.get(timestepKey(kindRow, known.Timestep, p))
	if err == nil && !found {
		value, found, err = o.staging.rows.Get(known.Timestep, p)
	}
	if err == nil && !found {
		err = o.inGraph(known.Timestep, lethe.Closed, func(g closed.Graph) (err error) {
			value, found, err = g.Row(p)
			return err
		})
	}
	if err != nil || !found {
		return false, err
	}
	r, err := stored.DecodeRow(value)
	if err != nil {
		return false, fmt.Errorf("row of timestep %d: %w", arrived.Timestep, err)
	}
	zeroed, _ := columns.Zeroed(r.Features)
	return index.ContentOf(o.staging.options.Secret, zeroed) == arrived.Content, nil
}

// knownLabel returns the pending label in staging with its judgement or, for a late label, the
// label of the settled snapshot.
func (o *overlay) knownLabel(
	t lethe.Timestep, p lethe.Pseudonym, late bool,
) (known bool, label lethe.Label, pending *pendingLabel, err error) {
	value, found, err := o.get(timestepKey(kindLabel, t, p))
	if err != nil {
		return false, lethe.Unknown, nil, err
	}
	if found {
		pending, err := decodeLabel(value)
		return true, pending.label, &pending, err
	}
	if !late {
		return false, lethe.Unknown, nil, nil
	}
	err = o.inGraph(t, lethe.Settled, func(g closed.Graph) (err error) {
		label, known, err = g.Label(p)
		return err
	})
	return known, label, nil, err
}

// inGraph calls fn with the store of a timestep, if the timestep has reached a state.
func (o *overlay) inGraph(t lethe.Timestep, state lethe.State, fn func(closed.Graph) error) error {
	if o.staging.Info(t).State < state {
		return nil
	}
	return fn(o.closed.at(t))
}
