package main

import (
	"fmt"

	"lethe"
	"lethe/dataset"
)

// customersOptions say how many customers there are, of how many transactions each.
type customersOptions struct {
	count, transactions int
	scope               string
	seed                uint64
}

// customers gives transactions of a stream to customers, over all timesteps alike, and
// returns what asks for the erasure of one after the other. It is told by the seed alone,
// so that a folder that was fed before has the same.
func customers(stream *dataset.Stream, o customersOptions) (func() drawn, error) {
	draw := lethe.NewDraw(o.seed, "benchmark-customers")
	for at := range o.transactions {
		step := stream.Steps[at*len(stream.Steps)/o.transactions]
		for customer := range o.count {
			t, err := anybodys(step, draw)
			if err != nil {
				return nil, err
			}
			t.Subjects = []string{nameOfCustomer(customer)}
		}
	}
	next := 0
	return func() drawn {
		next++
		return drawn{
			targets: []lethe.Target{lethe.SubjectThrough(nameOfCustomer(next-1), lethe.NoTimestep)}, scope: o.scope,
			transactions: o.transactions, customer: true,
		}
	}, nil
}

func nameOfCustomer(n int) string { return fmt.Sprintf("benchmark-customer-%d", n) }

// anybodys draws a transaction that is nobody's yet.
func anybodys(step dataset.Step, draw *lethe.Draw) (*lethe.Transaction, error) {
	var free []*lethe.Transaction
	for i := range step.Transactions {
		if t := &step.Transactions[i]; len(t.Subjects) == 0 {
			free = append(free, t)
		}
	}
	if len(free) == 0 {
		return nil, fmt.Errorf("timestep %d has %d transactions, too few for so many customers",
			step.Timestep, len(step.Transactions))
	}
	return free[draw.IntN(len(free))], nil
}
