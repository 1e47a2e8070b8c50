package stored

import (
	"slices"

	"lethe"
)

// Erasure selects the keys and values that an erasure removes from stores.
type Erasure struct{ lethe.Removal }

// Names reports whether an entry about some transactions must be erased: because it names an
// erased transaction, or because it is about an erased payment between the two.
func (e Erasure) Names(about []lethe.Pseudonym) bool {
	if len(about) == 2 && e.Payments[lethe.PseudonymPair{Source: about[0], Target: about[1]}] {
		return true
	}
	return slices.ContainsFunc(about, func(p lethe.Pseudonym) bool { return e.Nodes[p] })
}

// Keeps reports whether a transaction stays unchanged.
func (e Erasure) Keeps(p lethe.Pseudonym) bool {
	_, redacted := e.Features[p]
	return !redacted && !e.Nodes[p]
}

// Redacted returns a stored row with 0 for the erased features. Error: ErrCorrupt.
func (e Erasure) Redacted(p lethe.Pseudonym, value []byte) ([]byte, error) {
	columns, redacted := e.Features[p]
	if !redacted {
		return value, nil
	}
	r, err := DecodeRow(value)
	if err != nil {
		return nil, err
	}
	zeroed, changed := columns.Zeroed(r.Features)
	if !changed {
		return value, nil
	}
	return Row{r.ID, zeroed}.Encode(), nil
}
