package snapshot

import (
	"bytes"
	"fmt"

	"lethe"
)

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
	return becomes(b.staging.options.Secret, value, columns, arrived)
}

// becomes reports whether a stored row has the content that arrived once some columns are 0.
func becomes(secret lethe.Secret, stored []byte, columns lethe.Columns, arrived indexEntry) (bool, error) {
	r, err := decodeRow(stored)
	if err != nil {
		return false, fmt.Errorf("row of timestep %d: %w", arrived.timestep, err)
	}
	zeroed, _ := columns.Zeroed(r.features)
	return hashContent(secret, zeroed) == arrived.hash, nil
}
