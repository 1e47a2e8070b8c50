package dataset

import (
	"context"
	"fmt"
	"io/fs"
	"slices"

	"lethe"
)

// idColumns is the number of columns before the features: id and timestep.
const idColumns = 2

// arenaRows is how many feature rows share one allocation.
const arenaRows = 512

// nodeTable is the features file: its transactions in file order. The file has
// no header, so transaction i is row i+1.
type nodeTable struct {
	featureCount int
	transactions []lethe.Transaction
	position     map[lethe.TransactionID]int
	arena        []float32
}

// timesteps returns the distinct ones, ascending.
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
	n := &nodeTable{position: make(map[lethe.TransactionID]int)}
	if err := t.each(ctx, func() error { return n.add(t) }); err != nil {
		return nil, err
	}
	if len(n.transactions) == 0 {
		return nil, t.refuse(0, "the file is empty")
	}
	return n, nil
}

// add takes the table's current row.
func (n *nodeTable) add(t *table) error {
	if t.row == 1 {
		if len(t.fields) <= idColumns {
			return t.refuse(0, fmt.Sprintf("%d columns; a row is an id, a timestep and at least one feature", len(t.fields)))
		}
		n.featureCount = len(t.fields) - idColumns
	}
	if got, want := len(t.fields), n.featureCount+idColumns; got != want {
		return t.refuse(0, fmt.Sprintf("%d columns, row 1 has %d; every row is an id, a timestep and as many features", got,
			want))
	}
	if reason := checkID(t.fields[0]); reason != "" {
		return t.refuse(1, reason)
	}
	timestep, ok := parseTimestep(t.fields[1])
	if !ok {
		reason := "the timestep is not a whole number from 0 (columns are id, timestep, features; is the file transposed?)"
		if t.row == 1 {
			reason = "the timestep is not a whole number from 0 (this file has no header; columns are id, timestep, features)"
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
		out[j] = v
	}
	return out, nil
}
