package stored

import (
	"slices"

	"lethe"
)

// Erasure is what an erasure takes out of stores.
type Erasure struct{ lethe.Removal }

// Names reports whether what is about some transactions is to go: with one of them, or as
// the payment between them.
func (e Erasure) Names(about []lethe.Pseudonym) bool {
	if len(about) == 2 && e.Payments[lethe.PseudonymPair{Source: about[0], Target: about[1]}] {
		return true
	}
	return slices.ContainsFunc(about, func(p lethe.Pseudonym) bool { return e.Nodes[p] })
}

// IsIn reports whether what the pseudonyms at the end of a key are about is to go. Error: ErrCorrupt.
func (e Erasure) IsIn(key []byte, prefix int) (bool, error) {
	about, err := Pseudonyms(key, prefix, (len(key)-prefix)/PseudonymBytes)
	return e.Names(about), err
}

// Keeps reports whether a transaction stays as it is.
func (e Erasure) Keeps(p lethe.Pseudonym) bool {
	_, redacted := e.Features[p]
	return !redacted && !e.Nodes[p]
}

// Redacted is a stored row with 0 for the features that go of it. Error: ErrCorrupt.
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
