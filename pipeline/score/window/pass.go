package window

import (
	"slices"
	"time"

	"lethe"
)

// mostNeighbours bounds the neighbours with which a pass scores a transaction, so that a hub does not make a pass as
// long as a timestep. Means over neighbours are cheap and always include all of them.
const mostNeighbours = 32

// Pass is a set of transactions to score, with their surroundings.
type Pass struct {
	// Graph is in canonical order. It holds the scored transactions, their neighbours, and the neighbours of both, so
	// that the rows of Among are complete.
	Graph *lethe.Snapshot
	// Among are the positions in Graph of the scored transactions and their neighbours, ascending: the graph for the
	// models.
	Among []int
	// Scored are positions in Among.
	Scored []int
	// Again means that all of Scored had a score.
	Again  bool
	places []*place // of Scored
	// alone means that the scored transactions are the whole graph for the models, without other neighbours.
	alone bool
}

// Next takes a pass of at most the given number of transactions, or of one with its neighbours, out of a queue; nil if
// no transaction waits. All are of one timestep. Rescoring happens only if again is set and no first score waits, with
// half the number, so that arriving transactions do not wait long.
//
// If the arrived transactions are more than a fifth of a pass, they arrive faster than they can be scored with their
// neighbours: they are first scored among each other, and queued for rescoring.
func (w *Window) Next(most int, again bool) *Pass {
	g := gathering{scored: make(map[*place]bool), among: make(map[*place]bool), most: most}
	g.alone = len(w.arrived) > most/5
	w.arrived = g.take(w.arrived)
	if again = again && len(g.scored) == 0; again {
		g.most /= 2
		w.again = g.take(w.again)
	}
	if len(g.scored) == 0 {
		return nil
	}
	pass := g.pass()
	pass.Again = again
	return pass
}

// gathering is a pass under construction.
type gathering struct {
	scored, among map[*place]bool
	most          int
	alone         bool
}

// take moves transactions from a queue to the pass as long as there is room, and returns
// the queue.
func (g *gathering) take(queue []*place) []*place {
	taken := 0
	for _, p := range queue {
		if len(g.scored) > 0 && (len(g.among) >= g.most || !sameStep(g.scored, p)) {
			break
		}
		p.waits = false
		g.scored[p], g.among[p] = true, true
		if !g.alone {
			for _, other := range firstOf(p.ordered(), mostNeighbours) {
				g.among[other] = true
			}
		}
		queue[taken] = nil
		taken++
	}
	return queue[taken:]
}

func firstOf(places []*place, n int) []*place { return places[:min(n, len(places))] }

// ordered returns the neighbours that have arrived, by pseudonym.
func (p *place) ordered() []*place {
	others := make(map[*place]bool, len(p.payers)+len(p.payees))
	p.neighbours(func(other *place) { others[other] = true })
	return ordered(others)
}

func sameStep(scored map[*place]bool, p *place) bool {
	for one := range scored {
		return one.at == p.at
	}
	return true
}

func ordered(set map[*place]bool) []*place {
	out := make([]*place, 0, len(set))
	for p := range set {
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b *place) int { return a.pseudonym.Compare(b.pseudonym) })
	return out
}

func (g *gathering) pass() *Pass {
	set := make(map[*place]bool, 2*len(g.among))
	for p := range g.among {
		set[p] = true
		p.neighbours(func(other *place) { set[other] = true })
	}
	all := ordered(set)
	s := &lethe.Snapshot{Timestep: all[0].at, FeatureCount: len(all[0].features)}
	pass := &Pass{Graph: s, alone: g.alone}
	position := make(map[*place]uint32, len(all))
	for i, p := range all {
		position[p] = uint32(i)
		s.Nodes = append(s.Nodes, lethe.SnapshotNode{Pseudonym: p.pseudonym, ID: p.id})
		s.Features = append(s.Features, p.features...)
		if g.scored[p] {
			pass.Scored = append(pass.Scored, len(pass.Among))
			pass.places = append(pass.places, p)
		}
		if g.among[p] {
			pass.Among = append(pass.Among, i)
		}
	}
	for _, p := range all {
		for other := range p.payees {
			if at, inside := position[other]; inside {
				s.Payments = append(s.Payments, lethe.Arc{Source: position[p], Target: at})
			}
		}
	}
	slices.SortFunc(s.Payments, lethe.Arc.Compare)
	return pass
}

// Scored is a transaction with its new probability.
type Scored struct {
	ID          lethe.TransactionID
	Pseudonym   lethe.Pseudonym
	Probability float64
	// Since is the time of the oldest record that caused the score; zero for none.
	Since time.Time
}

// Score stores the probabilities of a pass, by Pass.Scored, and returns those of remaining transactions: since Next,
// timesteps may have closed and transactions been suppressed.
func (w *Window) Score(pass *Pass, probabilities []float64) []Scored {
	var out []Scored
	for i, p := range pass.places {
		if p.gone {
			continue
		}
		out = append(out, Scored{p.id, p.pseudonym, probabilities[i], p.since})
		if p.scored, p.probability = true, probabilities[i]; pass.alone && len(p.payers)+len(p.payees) > 0 {
			w.wait(p, time.Time{})
		}
	}
	return out
}

// Probabilities returns the newest ones of a timestep, ascending.
func (w *Window) Probabilities(t lethe.Timestep) []float64 {
	var out []float64
	for _, p := range w.steps[t] {
		if p.scored {
			out = append(out, p.probability)
		}
	}
	slices.Sort(out)
	return out
}
