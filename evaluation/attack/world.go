package attack

import (
	"cmp"
	"slices"

	"lethe"
	"lethe/dataset"
)

// target is a labelled transaction whose membership is guessed.
type target struct {
	id    lethe.TransactionID
	at    lethe.Timestep
	label lethe.Label
	// member says that it is sent and erased; otherwise it is never sent.
	member bool
}

// world is data with targets drawn from it.
type world struct {
	stream *dataset.Stream
	// targets are the members, then the outsiders.
	targets []target
	members []lethe.TransactionID
	// outside and gone are the outsiders, and both kinds of target.
	outside, gone map[lethe.TransactionID]bool
}

// halves deals the timesteps out in turn, to the deployment and to the shadow.
// Both then see the same drift and no transaction in common.
func halves(s *dataset.Stream) (deployment, shadow *dataset.Stream) {
	out := [2]*dataset.Stream{}
	for i := range out {
		out[i] = &dataset.Stream{Name: s.Name, FeatureCount: s.FeatureCount}
	}
	for i, step := range s.Steps {
		out[i%2].Steps = append(out[i%2].Steps, step)
	}
	return out[0], out[1]
}

// newWorld draws n members and n outsiders: labelled transactions are shuffled
// within their class and dealt out in turn, so that both kinds have the same
// number of each class within one.
func newWorld(s *dataset.Stream, n int, seed uint64, purpose string) *world {
	w := &world{stream: s, outside: make(map[lethe.TransactionID]bool), gone: make(map[lethe.TransactionID]bool)}
	var pool []target
	for _, step := range s.Steps {
		for _, l := range step.Labels {
			pool = append(pool, target{id: l.ID, at: l.Timestep, label: l.Label})
		}
	}
	d := lethe.NewDraw(seed, purpose)
	for i := len(pool) - 1; i > 0; i-- {
		j := d.IntN(i + 1)
		pool[i], pool[j] = pool[j], pool[i]
	}
	pool = pool[:2*n]
	// Stable, so that the order within a class is the drawn one.
	slices.SortStableFunc(pool, func(a, b target) int { return cmp.Compare(a.label, b.label) })
	for i := range pool {
		pool[i].member = i%2 == 0
		w.gone[pool[i].id] = true
		if pool[i].member {
			w.members = append(w.members, pool[i].id)
		} else {
			w.outside[pool[i].id] = true
		}
	}
	slices.SortStableFunc(pool, func(a, b target) int { return compareBool(b.member, a.member) })
	w.targets = pool
	return w
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}

// isMember lists which targets are members.
func (w *world) isMember() []bool {
	out := make([]bool, len(w.targets))
	for i, t := range w.targets {
		out[i] = t.member
	}
	return out
}

// without returns the stream without some transactions, and without the labels
// and payments that name them.
func without(s *dataset.Stream, drop map[lethe.TransactionID]bool) *dataset.Stream {
	out := &dataset.Stream{Name: s.Name, FeatureCount: s.FeatureCount}
	for _, step := range s.Steps {
		kept := dataset.Step{Timestep: step.Timestep}
		for _, tx := range step.Transactions {
			if !drop[tx.ID] {
				kept.Transactions = append(kept.Transactions, tx)
			}
		}
		for _, p := range step.Payments {
			if !drop[p.Source] && !drop[p.Target] {
				kept.Payments = append(kept.Payments, p)
			}
		}
		for _, l := range step.Labels {
			if !drop[l.ID] {
				kept.Labels = append(kept.Labels, l)
			}
		}
		if len(kept.Transactions) > 0 {
			out.Steps = append(out.Steps, kept)
		}
	}
	return out
}
