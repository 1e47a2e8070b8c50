package lethe

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
)

// FeaturesOf returns a target for features of a transaction, by their positions; without columns,
// all of them.
func FeaturesOf(id TransactionID, columns ...int) Target {
	return Target{Kind: FeaturesTarget, Transaction: id, Columns: ColumnsOf(columns...)}
}

// ColumnsOf returns the columns at positions given in any order.
func ColumnsOf(columns ...int) Columns {
	if len(columns) == 0 {
		return nil
	}
	out := slices.Clone(columns)
	slices.Sort(out)
	return slices.Compact(out)
}

// PositionsIn parses comma-separated positions, in their order.
func PositionsIn(text string) (out Columns, err error) {
	for part := range strings.SplitSeq(text, ",") {
		column, err := strconv.ParseUint(part, 10, 31)
		if err != nil {
			return nil, errors.New("positions of features are numbers from 0, separated by commas") // must not repeat the text
		}
		out = append(out, int(column))
	}
	return out, nil
}

// Check rejects columns that are not ascending positions.
func (c Columns) Check() error {
	for i, column := range c {
		if column < 0 || i > 0 && column <= c[i-1] {
			return errors.New("columns are not ascending positions, counted from 0")
		}
	}
	return nil
}

// With returns the union of both.
func (c Columns) With(d Columns) Columns {
	if len(c) == 0 || len(d) == 0 {
		return nil
	}
	return ColumnsOf(slices.Concat(c, d)...)
}

// Cover reports whether all columns of d are among these.
func (c Columns) Cover(d Columns) bool {
	lacks := func(column int) bool { return !slices.Contains(c, column) }
	return len(c) == 0 || len(d) > 0 && !slices.ContainsFunc(d, lacks)
}

// Zeroed returns a row of features with 0 in the columns, and whether that changed the row. A
// missing value and -0 count as different from 0. Columns beyond the row's end are ignored.
func (c Columns) Zeroed(row []float32) (out []float32, changed bool) {
	for i, v := range row {
		if math.Float32bits(v) == 0 || !c.Hold(i) {
			continue
		}
		if !changed {
			row, changed = slices.Clone(row), true
		}
		row[i] = 0
	}
	return row, changed
}

// Redaction is the erasure of features of one transaction. Target is the keyed hash of the target
// (Secret.Suppressed).
type Redaction struct {
	Target  Digest  `json:"target"`
	Columns Columns `json:"columns,omitempty"`
}

// Redactions holds the erased features of transactions. The zero value is empty.
type Redactions struct {
	targets map[Digest]Columns
	// sets are the distinct columns of targets, by Columns.String.
	sets map[string]Columns
}

// Add adds a redaction.
func (r *Redactions) Add(one Redaction) {
	if r.targets == nil {
		r.targets, r.sets = make(map[Digest]Columns), make(map[string]Columns)
	}
	r.targets[one.Target] = one.Columns
	r.sets[one.Columns.String()] = one.Columns
}

// Drop removes redactions by their targets, and ignores unknown targets.
func (r *Redactions) Drop(targets []Digest) {
	for _, target := range targets {
		delete(r.targets, target)
	}
	clear(r.sets)
	for _, columns := range r.targets {
		r.sets[columns.String()] = columns
	}
}

// Any reports whether there are any.
func (r *Redactions) Any() bool { return len(r.targets) > 0 }

// Has reports whether a target is among the redactions.
func (r *Redactions) Has(target Digest) bool {
	_, found := r.targets[target]
	return found
}

// List returns the redactions in no particular order.
func (r *Redactions) List() []Redaction {
	out := make([]Redaction, 0, len(r.targets))
	for target, columns := range r.targets {
		out = append(out, Redaction{target, columns})
	}
	return out
}

// Of returns the erased columns of a transaction, if any. It computes a keyed hash for each
// distinct set of columns.
func (r *Redactions) Of(secret Secret, id TransactionID) (columns Columns, redacted bool) {
	for _, of := range r.sets { // the order does not matter for a union
		if _, found := r.targets[secret.Suppressed(Target{Kind: FeaturesTarget, Transaction: id, Columns: of})]; !found {
			continue
		}
		if redacted {
			of = columns.With(of)
		}
		columns, redacted = of, true
	}
	return columns, redacted
}
