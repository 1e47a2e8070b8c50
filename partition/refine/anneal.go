package refine

import (
	"context"

	"lethe"
	"lethe/internal/portable/gomath"
)

// firstPrice is the initial share of the classes' final prices: at high temperature, nodes may
// pass through full shards.
const firstPrice = 0.1

// cooling configures an annealing.
type cooling struct {
	draws  *lethe.Draw
	sweeps int
	// temperature is the initial one, in cut edges; it falls linearly to zero.
	temperature float64
	// price is the final price of every class; the price rises linearly to it.
	price []float64
}

// anneal moves nodes for a number of sweeps (Kirkpatrick, Gelatt and Vecchi 1983), each of which
// visits every node once.
func (m *moves) anneal(ctx context.Context, c cooling) error {
	for sweep := range c.sweeps {
		if err := ctx.Err(); err != nil {
			return err
		}
		done := float64(sweep) / float64(c.sweeps)
		for class, price := range c.price {
			m.price[class] = price * (firstPrice + float64((1-firstPrice)*done))
		}
		m.sweep(c.temperature*(1-done), c.draws)
	}
	return nil
}

// sweep proposes for every node the shard of a drawn neighbour, or a drawn shard if it has none.
// Moves are accepted by Metropolis' rule.
func (m *moves) sweep(temperature float64, draw *lethe.Draw) {
	for i, from := range m.a {
		to := m.offer(i, draw)
		if to == from {
			continue
		}
		gain := float64(m.saved(i, from, to)) - m.cost(i, from, to)
		if gain >= 0 || draw.Float64() < gomath.Exp(gain/temperature) {
			m.move(i, to)
		}
	}
}

func (m *moves) offer(i int, draw *lethe.Draw) lethe.ShardID {
	degree := m.Start[i+1] - m.Start[i]
	if degree == 0 {
		return lethe.ShardID(below(draw, m.shards))
	}
	return m.a[m.Neighbours[m.Start[i]+below(draw, degree)]]
}
