package dataset

import (
	"context"
	"fmt"
	"io/fs"

	"lethe"
)

// className is a label in Elliptic's classes file, by lethe.Label.
func className(l lethe.Label) string { return [lethe.NumLabels]string{"unknown", "2", "1"}[l] }

func parseClass(field []byte) (lethe.Label, bool) {
	for l := range lethe.Label(lethe.NumLabels) {
		if string(field) == className(l) {
			return l, true
		}
	}
	return lethe.Unknown, false
}

// readClasses returns the label of every transaction, in their order.
func readClasses(ctx context.Context, fsys fs.FS, nodes *nodeTable, opts EllipticOptions) ([]lethe.Label, error) {
	t, err := openTable(fsys, ClassesFile, opts.Lenient)
	if err != nil {
		return nil, err
	}
	defer t.close()
	if err := t.header(nodes.isID); err != nil {
		return nil, err
	}
	labels := make([]lethe.Label, len(nodes.transactions))
	rows := make([]int, len(labels)) // 0: no row yet
	if err := t.each(ctx, func() error { return takeClass(t, nodes, labels, rows) }); err != nil {
		return nil, err
	}
	if !opts.Lenient {
		if err := everyClass(rows); err != nil {
			return nil, err
		}
	}
	return labels, nil
}

// takeClass processes the table's current row.
func takeClass(t *table, nodes *nodeTable, labels []lethe.Label, rows []int) error {
	if len(t.fields) != 2 {
		return t.wrongColumns("2")
	}
	if reason := checkID(t.fields[0]); reason != "" {
		return t.refuse(1, reason)
	}
	label, ok := parseClass(t.fields[1])
	if !ok {
		return t.refuse(2, "the class is not one of 1 (illicit), 2 (licit), unknown")
	}
	i, ok := nodes.position[lethe.TransactionID(t.fields[0])]
	if !ok {
		return t.refuse(1, "the id has no row in "+FeaturesFile)
	}
	if rows[i] != 0 {
		return t.refuse(1, fmt.Sprintf("the id has a class in row %d already", rows[i]))
	}
	labels[i], rows[i] = label, t.row
	return nil
}

// everyClass rejects a file without rows for some transactions: Elliptic's has all of them, so this
// one was truncated or belongs to other features.
func everyClass(rows []int) error {
	first, missing := 0, 0
	for i, row := range rows {
		if row == 0 {
			if missing == 0 {
				first = i
			}
			missing++
		}
	}
	if missing == 0 {
		return nil
	}
	return &RowError{File: ClassesFile, Reason: fmt.Sprintf(
		"%d of %d transactions have no row (the first is row %d of %s): the file was cut short or belongs to other features",
		missing, len(rows), first+1, FeaturesFile)}
}
