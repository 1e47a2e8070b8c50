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
	// request is the erasure that a member belongs to, counted from 0; outsiders
	// are dealt out over them too.
	request int
}

// scenario is data with targets drawn from it.
type scenario struct {
	stream *dataset.Stream
	// targets are the members, then the outsiders.
	targets []target
	// members holds the members' ids by request.
	requests int
	members  [][]lethe.TransactionID
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

// newScenario draws n members and n outsiders and deals both out over the requests.
// Labelled transactions are shuffled, and dealt out in turn within their class,
// so that both kinds have the same number of each class within one.
func newScenario(s *dataset.Stream, n, requests int, draw *lethe.Draw) *scenario {
	sc := &scenario{
		stream: s, requests: requests, members: make([][]lethe.TransactionID, requests),
		outside: make(map[lethe.TransactionID]bool), gone: make(map[lethe.TransactionID]bool),
	}
	var pool []target
	for _, step := range s.Steps {
		for _, l := range step.Labels {
			pool = append(pool, target{id: l.ID, at: l.Timestep, label: l.Label})
		}
	}
	for i := len(pool) - 1; i > 0; i-- {
		j := draw.IntN(i + 1)
		pool[i], pool[j] = pool[j], pool[i]
	}
	pool = pool[:2*n]
	// Stable, so that the order within a class is the drawn one.
	slices.SortStableFunc(pool, func(a, b target) int { return cmp.Compare(a.label, b.label) })
	var outsiders []target
	for i, t := range pool {
		t.member, t.request = i%2 == 0, i/2%requests
		sc.gone[t.id] = true
		if t.member {
			sc.targets = append(sc.targets, t)
			sc.members[t.request] = append(sc.members[t.request], t.id)
		} else {
			outsiders = append(outsiders, t)
			sc.outside[t.id] = true
		}
	}
	sc.targets = append(sc.targets, outsiders...)
	return sc
}

// mislabelled is the scenario with the labels of all targets turned round. A model
// can only have memorised such a label, so its members are the easiest to tell.
func (sc *scenario) mislabelled() *scenario {
	out := *sc
	out.targets = slices.Clone(sc.targets)
	for i := range out.targets {
		out.targets[i].label = opposite(out.targets[i].label)
	}
	out.stream = &dataset.Stream{Name: sc.stream.Name, FeatureCount: sc.stream.FeatureCount}
	for _, step := range sc.stream.Steps {
		step.Labels = slices.Clone(step.Labels)
		for i, l := range step.Labels {
			if sc.gone[l.ID] {
				step.Labels[i].Label = opposite(l.Label)
			}
		}
		out.stream.Steps = append(out.stream.Steps, step)
	}
	return &out
}

func opposite(l lethe.Label) lethe.Label {
	if l == lethe.Illicit {
		return lethe.Licit
	}
	return lethe.Illicit
}

// inside are the members.
func (sc *scenario) inside() map[lethe.TransactionID]bool {
	out := make(map[lethe.TransactionID]bool)
	for _, t := range sc.targets {
		if t.member {
			out[t.id] = true
		}
	}
	return out
}

// isMember lists which targets are members.
func (sc *scenario) isMember() []bool {
	out := make([]bool, len(sc.targets))
	for i, t := range sc.targets {
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
