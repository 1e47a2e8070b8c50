package dataset

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math"
	"slices"

	"lethe"
)

// idColumns is the number of columns before the features: id and timestep.
const idColumns = 2

// arenaRows is the number of feature rows in one allocation.
const arenaRows = 512

// nodeTable is the features file: its transactions in file order. The file has
// no header, so transaction i is row i+1.
type nodeTable struct {
	featureCount int
	transactions []lethe.Transaction
	position     map[lethe.TransactionID]int
	arena        []float32
	bounds       Bounds
	// odd is the error of row 2, if its number of columns differs from row 1: row 3 decides which of them is
	// wrong.
	odd error
	// filled means that the last column has a value in some row.
	filled bool
}

// isID reports whether a field is the id of a transaction.
func (n *nodeTable) isID(field []byte) bool {
	_, known := n.position[lethe.TransactionID(field)]
	return known
}

// timesteps returns the distinct timesteps, ascending.
func (n *nodeTable) timesteps() []lethe.Timestep {
	all := make([]lethe.Timestep, len(n.transactions))
	for i := range n.transactions {
		all[i] = n.transactions[i].Timestep
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func readFeatures(ctx context.Context, fsys fs.FS, opts EllipticOptions) (*nodeTable, error) {
	t, err := openTable(fsys, FeaturesFile, opts.Lenient)
	if err != nil {
		return nil, err
	}
	defer t.close()
	n := &nodeTable{position: make(map[lethe.TransactionID]int), bounds: opts.Bounds}
	if err := t.each(ctx, func() error { return n.add(t) }); err != nil {
		return nil, err
	}
	switch {
	case n.odd != nil:
		return nil, n.odd
	case len(n.transactions) == 0:
		return nil, t.refuse(0, "the file is empty")
	case !n.filled:
		return nil, &RowError{File: t.name, Reason: fmt.Sprintf("column %d has no value in any row: rows end in a comma "+
			"(take it off), or a feature is never known (leave it out)", idColumns+n.featureCount)}
	}
	return n, n.checkTimesteps(t.name)
}

// checkTimesteps rejects timesteps that intake would reject as late or as too far ahead of the previous one.
func (n *nodeTable) checkTimesteps(file string) error {
	first, jump := n.bounds.First, lethe.Timestep(n.bounds.Jump)
	before := first
	for i, at := range n.timesteps() {
		reason := ""
		switch tooFar := jump > 0 && at-before > jump; {
		case at < first:
			reason = fmt.Sprintf("the timestep is before ingest.first_timestep, which is %d: lower that", first)
		case tooFar && i == 0:
			reason = fmt.Sprintf("the timestep is more than %d (ingest.max_timestep_jump) after the first one, %d: set "+
				"ingest.first_timestep to where the stream begins", jump, first)
		case tooFar:
			reason = fmt.Sprintf("the timestep is more than %d after the one before it, which ingest.max_timestep_jump is: "+
				"number timesteps one after the other (not by epoch seconds), or raise it", jump)
		}
		if reason != "" {
			row := slices.IndexFunc(n.transactions, func(tx lethe.Transaction) bool { return tx.Timestep == at }) + 1
			return &RowError{File: file, Row: row, Column: idColumns, Reason: reason}
		}
		before = at
	}
	return nil
}

// add processes the table's current row.
func (n *nodeTable) add(t *table) error {
	if err := n.checkColumns(t); err != nil || n.odd != nil {
		return err
	}
	if reason := checkID(t.fields[0]); reason != "" {
		return t.refuse(1, reason)
	}
	timestep, ok := parseTimestep(t.fields[1])
	if !ok {
		const number = "the timestep is not a whole number from 0 to 2^53 "
		reason := number + "(columns are id, timestep, features; is the file transposed?)"
		switch {
		case t.row == 1 && bytes.ContainsAny(t.fields[0], ";\t"):
			return t.refuse(0, separated)
		case t.row == 1:
			reason = number + "(this file has no header; columns are id, timestep, features)"
		}
		return t.refuse(2, reason)
	}
	id := lethe.TransactionID(t.fields[0])
	if first, twice := n.position[id]; twice {
		return t.refuse(1, fmt.Sprintf("the id is that of row %d too (columns are id, timestep, features)", first+1))
	}
	features, err := n.parse(t)
	if err != nil {
		return err
	}
	n.position[id] = len(n.transactions)
	n.transactions = append(n.transactions, lethe.Transaction{ID: id, Timestep: timestep, Features: features})
	return nil
}

// checkColumns compares the number of columns with that of row 1.
func (n *nodeTable) checkColumns(t *table) error {
	if t.row == 1 {
		switch {
		case len(t.fields) <= idColumns:
			return t.wrongColumns("an id, a timestep and at least one feature")
		case n.bounds.Features > 0 && len(t.fields)-idColumns > n.bounds.Features:
			return t.refuse(0, fmt.Sprintf("%d features, at most %d", len(t.fields)-idColumns, n.bounds.Features))
		}
		n.featureCount = len(t.fields) - idColumns
	}
	got, want := len(t.fields), n.featureCount+idColumns
	if n.odd != nil && got != want {
		t.row = 1
		return t.refuse(0, fmt.Sprintf("%d columns, and rows 2 and 3 have another number: every row is an id, a timestep "+
			"and as many features", want))
	}
	if n.odd != nil {
		return n.odd
	}
	if got == want {
		return nil
	}
	err := t.wrongColumns(fmt.Sprintf("%d as in row 1: every row is an id, a timestep and as many features", want))
	if t.row == 2 { //nolint:mnd // the second row
		n.odd = err
		return nil
	}
	return err
}

// parse reads the current row's features into the arena.
func (n *nodeTable) parse(t *table) ([]float32, error) {
	if len(n.arena) < n.featureCount {
		n.arena = make([]float32, arenaRows*n.featureCount)
	}
	out := n.arena[:n.featureCount:n.featureCount]
	n.arena = n.arena[n.featureCount:]
	for j := range out {
		v, reason := parseFeature(t.fields[j+idColumns])
		if reason != "" {
			return nil, t.refuse(j+idColumns+1, reason)
		}
		if most := n.bounds.Magnitude; most > 0 && math.Abs(float64(v)) > most {
			return nil, t.refuse(j+idColumns+1, fmt.Sprintf("the value is beyond ±%g, which ingest.max_magnitude is: "+
				"scale the column, leave missing values empty, or raise the bound", most))
		}
		out[j] = v
	}
	n.filled = n.filled || !lethe.IsMissing(out[len(out)-1])
	return out, nil
}
