package view

import (
	"maps"
	"slices"

	"lethe"
	"lethe/scoring"
)

// Neighbour is a transaction in a neighbourhood.
type Neighbour struct {
	Ref   Ref                 `json:"ref"`
	ID    lethe.TransactionID `json:"id"`
	Label string              `json:"label"`
	// Distance is the number of payments between it and the transaction that was asked for.
	Distance int `json:"distance"`
	// Probability is nil if it has no prediction.
	Probability *float64 `json:"probability"`
	Alert       bool     `json:"alert"`
}

// Payment leads from one transaction of a neighbourhood to another.
type Payment struct {
	Source Ref `json:"source"`
	Target Ref `json:"target"`
}

// Neighbourhood is who paid whom around a transaction.
type Neighbourhood struct {
	Timestep lethe.Timestep `json:"timestep"`
	Nodes    []Neighbour    `json:"nodes"`
	Payments []Payment      `json:"payments"`
	// Truncated says that there are more than were asked for.
	Truncated bool `json:"truncated"`
}

// Neighbourhood returns the transactions at most so many payments away, the nearest first, and no
// more than limit, with the payments among them; nil for one that is in no closed graph.
func (r *Reader) Neighbourhood(of Ref, distance, limit int) (*Neighbourhood, error) {
	start := name(of)
	w := &walk{Reader: r, found: make(map[name]visited), limit: limit}
	if there, err := w.visit(start, 0); err != nil || !there {
		return nil, err
	}
	frontier := []name{start}
	for d := 1; d <= distance; d++ {
		var next []name
		for _, n := range frontier {
			for _, p := range w.found[n].payments {
				if _, known := w.found[p.other]; known {
					continue
				}
				there, err := w.visit(p.other, d)
				if err != nil {
					return nil, err
				}
				if there {
					next = append(next, p.other)
				}
			}
		}
		frontier = next
	}
	return w.result()
}

// walk visits transactions, the nearest first.
type walk struct {
	*Reader
	found map[name]visited
	// order is that in which they were found.
	order     []name
	limit     int
	truncated bool
}

type visited struct {
	node
	distance int
}

// visit notes a transaction, unless nobody is to be told of it or there are too many.
func (w *walk) visit(n name, distance int) (bool, error) {
	if w.hidden.is(n) {
		return false, nil
	}
	if len(w.order) == w.limit {
		w.truncated = true
		return false, nil
	}
	node, there, err := readNode(w.store, n)
	if err != nil || !there {
		return false, err
	}
	w.found[n] = visited{node, distance}
	w.order = append(w.order, n)
	return true, nil
}

func (w *walk) result() (*Neighbourhood, error) {
	keys := make([][]byte, len(w.order))
	for i, n := range w.order {
		keys[i] = keyOf(predictionPrefix, n)
	}
	predictions, err := readPredictions(w.store, keys)
	if err != nil {
		return nil, err
	}
	out := &Neighbourhood{
		Timestep: w.found[w.order[0]].timestep, Nodes: []Neighbour{}, Payments: []Payment{}, Truncated: w.truncated,
	}
	for i, n := range w.order {
		v := w.found[n]
		at := Neighbour{Ref: Ref(n), ID: v.id, Label: v.label.String(), Distance: v.distance}
		if p := predictions[i]; p != nil {
			at.Probability, at.Alert = &p.Probability, isAlert(p)
		}
		out.Nodes = append(out.Nodes, at)
		for _, p := range v.payments {
			if _, known := w.found[p.other]; known && p.to {
				out.Payments = append(out.Payments, Payment{Ref(n), Ref(p.other)})
			}
		}
	}
	return out, nil
}

// Transaction is what is known of a transaction.
type Transaction struct {
	Ref      Ref                 `json:"ref"`
	ID       lethe.TransactionID `json:"id"`
	Timestep lethe.Timestep      `json:"timestep"`
	Label    string              `json:"label"`
	// Payments counts those whom it paid or was paid by; nil while its timestep is open.
	Payments *int `json:"payments"`
	// Prediction is nil if there is none.
	Prediction *scoring.Prediction `json:"prediction"`
	// Explained says that there are reasons.
	Explained bool `json:"explained"`
}

// Transaction returns what is known of a transaction, or nil.
func (r *Reader) Transaction(of Ref) (*Transaction, error) {
	p, err := r.Prediction(of)
	if err != nil || r.hidden.is(name(of)) {
		return nil, err
	}
	node, known, err := readNode(r.store, name(of))
	if err != nil || !known && p == nil {
		return nil, err
	}
	out := &Transaction{Ref: of, ID: node.id, Timestep: node.timestep, Label: node.label.String(), Prediction: p}
	if known {
		payments := len(node.payments)
		out.Payments = &payments
	} else {
		out.ID, out.Timestep = p.Transaction, p.Timestep
	}
	_, out.Explained, err = r.store.Get(keyOf(reasonsPrefix, name(of)))
	return out, err
}

// descending lists timesteps, the newest first.
func descending(known map[lethe.Timestep]bool) []lethe.Timestep {
	times := slices.Sorted(maps.Keys(known))
	slices.Reverse(times)
	return times
}
