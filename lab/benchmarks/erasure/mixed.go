package main

import (
	"fmt"

	"lethe"
	"lethe/dataset"
)

// drawn is what a request asks for.
type drawn struct {
	targets []lethe.Target
	scope   string
	// transactions is how many that are.
	transactions int
	customer     bool
}

// mixedOptions say how many requests there are, and the scopes that are drawn from.
type mixedOptions struct {
	count  int
	scopes []string
	seed   uint64
}

// customerSizes are how many transactions customers have among mixed requests.
func customerSizes() []int { return []int{2, 5, 10, 20, 50, 100, 200} }

// mixed draws requests of all kinds: every second one in the mean is of a transaction, the others are
// of customers, whose transactions are of timesteps at random; every scope is as likely. It is told
// by the seed alone, so that a folder that was fed before has the same.
func mixed(stream *dataset.Stream, o mixedOptions) (func() drawn, error) {
	draw := lethe.NewDraw(o.seed, "benchmark-mixed")
	requests := make([]drawn, o.count)
	for i := range requests {
		r := drawn{scope: o.scopes[draw.IntN(len(o.scopes))], transactions: 1}
		name := fmt.Sprintf("benchmark-mixed-%d", i)
		if r.customer = draw.IntN(2) == 0; r.customer {
			r.transactions = customerSizes()[draw.IntN(len(customerSizes()))]
			r.targets = []lethe.Target{lethe.SubjectThrough(name, lethe.NoTimestep)}
		}
		for range r.transactions {
			t, err := anybodys(stream.Steps[draw.IntN(len(stream.Steps))], draw)
			if err != nil {
				return nil, err
			}
			// What one request names no other one does.
			if t.Subjects = []string{name}; !r.customer {
				r.targets = lethe.Transactions(t.ID)
			}
		}
		requests[i] = r
	}
	next := 0
	return func() drawn {
		next++
		return requests[next-1]
	}, nil
}
