package lethe

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
)

// FeaturesOf returns the target that is features of a transaction, by their positions; none
// stand for all.
func FeaturesOf(id TransactionID, columns ...int) Target {
	return Target{Kind: FeaturesTarget, Transaction: id, Columns: ColumnsOf(columns...)}
}

// ColumnsOf returns the columns at some positions, in whatever order they are given.
func ColumnsOf(columns ...int) Columns {
	if len(columns) == 0 {
		return nil
	}
	out := slices.Clone(columns)
	slices.Sort(out)
	return slices.Compact(out)
}

// PositionsIn reads positions separated by commas, as they come.
func PositionsIn(text string) (out Columns, err error) {
	for part := range strings.SplitSeq(text, ",") {
		column, err := strconv.ParseUint(part, 10, 31)
		if err != nil {
			return nil, errors.New("positions of features are numbers from 0, separated by commas") // no word of the text
		}
		out = append(out, int(column))
	}
	return out, nil
}

// Check refuses columns that are not ascending positions.
func (c Columns) Check() error {
	for i, column := range c {
		if column < 0 || i > 0 && column <= c[i-1] {
			return errors.New("columns are not ascending positions, counted from 0")
		}
	}
	return nil
}

// With returns the columns of both.
func (c Columns) With(d Columns) Columns {
	if len(c) == 0 || len(d) == 0 {
		return nil
	}
	return ColumnsOf(slices.Concat(c, d)...)
}

// Cover reports whether all of some columns are among these.
func (c Columns) Cover(d Columns) bool {
	lacks := func(column int) bool { return !slices.Contains(c, column) }
	return len(c) == 0 || len(d) > 0 && !slices.ContainsFunc(d, lacks)
}

// Zeroed returns a row of features with 0 in the columns, and whether that is another row. A
// missing value and -0 are not 0. Columns beyond the row's end say nothing.
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

// Redaction is features that are erased of one transaction: Target is the keyed hash of the
// target (Secret.Suppressed).
type Redaction struct {
	Target  Digest  `json:"target"`
	Columns Columns `json:"columns,omitempty"`
}

// Redactions tell which features of a transaction are erased. The zero value is none.
type Redactions struct {
	targets map[Digest]Columns
	// sets are the different columns of targets, by what Columns.String says of them.
	sets map[string]Columns
}

// Add takes a redaction in.
func (r *Redactions) Add(one Redaction) {
	if r.targets == nil {
		r.targets, r.sets = make(map[Digest]Columns), make(map[string]Columns)
	}
	r.targets[one.Target] = one.Columns
	r.sets[one.Columns.String()] = one.Columns
}

// Drop takes redactions out by their targets. Others are passed over.
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

// Of returns the columns that are erased of a transaction, if some are. It takes a keyed hash
// for each of the different sets of columns that were asked for.
func (r *Redactions) Of(secret Secret, id TransactionID) (columns Columns, redacted bool) {
	for _, of := range r.sets { // in any order: it is a union
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
