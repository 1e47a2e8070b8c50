package dataset

import (
	"context"
	"fmt"
	"io/fs"

	"lethe"
)

// readPayments returns the distinct edges in file order, and the number of repeated rows.
func readPayments(
	ctx context.Context, fsys fs.FS, nodes *nodeTable, opts EllipticOptions,
) (payments []lethe.Payment, repeated int, err error) {
	t, err := openTable(fsys, EdgesFile, opts.Lenient)
	if err != nil {
		return nil, 0, err
	}
	defer t.close()
	if err := t.header(nodes.isID); err != nil {
		return nil, 0, err
	}
	known := make(map[lethe.Payment]bool)
	err = t.each(ctx, func() error {
		p, err := takePayment(t, nodes, opts.Lenient)
		if known[p] {
			repeated++
			return err
		}
		known[p] = true
		payments = append(payments, p)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	return payments, repeated, nil
}

// takePayment processes the table's current row. Known ids are those of the features, so that a
// payment shares their memory.
func takePayment(t *table, nodes *nodeTable, lenient bool) (lethe.Payment, error) {
	var p lethe.Payment
	if len(t.fields) != 2 {
		return p, t.wrongColumns("2")
	}
	for column, field := range t.fields {
		if reason := checkID(field); reason != "" {
			return p, t.refuse(column+1, reason)
		}
	}
	a, knownA := nodes.position[lethe.TransactionID(t.fields[0])]
	b, knownB := nodes.position[lethe.TransactionID(t.fields[1])]
	switch {
	case !knownA && !knownB:
		return p, t.refuse(0, "neither end has a row in "+FeaturesFile)
	case !knownA && !lenient:
		return p, t.refuse(1, "the source has no row in "+FeaturesFile)
	case !knownB && !lenient:
		return p, t.refuse(2, "the target has no row in "+FeaturesFile)
	case !knownA:
		target := nodes.transactions[b]
		return lethe.Payment{Source: lethe.TransactionID(t.fields[0]), Target: target.ID, Timestep: target.Timestep}, nil
	case !knownB:
		source := nodes.transactions[a]
		return lethe.Payment{Source: source.ID, Target: lethe.TransactionID(t.fields[1]), Timestep: source.Timestep}, nil
	}
	source, target := nodes.transactions[a], nodes.transactions[b]
	if a == b && !lenient {
		return p, t.refuse(0, "both ends are the same transaction")
	}
	if source.Timestep != target.Timestep && !lenient {
		return p, t.refuse(0, fmt.Sprintf("the payment joins timesteps %d and %d", source.Timestep, target.Timestep))
	}
	return lethe.Payment{Source: source.ID, Target: target.ID, Timestep: source.Timestep}, nil
}
