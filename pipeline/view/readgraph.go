package view

import (
	"maps"
	"slices"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
	"lethe/pipeline/wire"
	"lethe/scoring"
)

// Neighbour is a transaction in a neighbourhood.
type Neighbour struct {
	Ref   Ref                 `json:"ref"`
	ID    lethe.TransactionID `json:"id"`
	Label string              `json:"label"`
	// Distance is the number of payments to the requested transaction.
	Distance int `json:"distance"`
	// Probability may be nil.
	Probability *float64 `json:"probability"`
	Alert       bool     `json:"alert"`
}

// Payment is a payment in a neighbourhood.
type Payment struct {
	Source Ref `json:"source"`
	Target Ref `json:"target"`
}

// Neighbourhood is the payments around a transaction.
type Neighbourhood struct {
	Timestep lethe.Timestep `json:"timestep"`
	Nodes    []Neighbour    `json:"nodes"`
	Payments []Payment      `json:"payments"`
	// Truncated means that there are more.
	Truncated bool `json:"truncated"`
}

// Neighbourhood returns the transactions within a distance, nearest first and up to limit, and the payments among
// them; nil if it is in no closed graph.
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

type walk struct {
	*Reader
	found map[name]visited
	// order is the order of discovery.
	order     []name
	limit     int
	truncated bool
}

type visited struct {
	node
	distance int
}

// visit adds a transaction unless hidden or over the limit.
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
	predictions, err := readPredictions(w.store, w.order...)
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

// Transaction is a transaction.
type Transaction struct {
	Ref      Ref                 `json:"ref"`
	ID       lethe.TransactionID `json:"id"`
	Timestep lethe.Timestep      `json:"timestep"`
	Label    string              `json:"label"`
	// Payments counts its partners; nil while its timestep is open.
	Payments *int `json:"payments"`
	// Prediction may be nil.
	Prediction *scoring.Prediction `json:"prediction"`
	// Explained means that it has reasons.
	Explained bool `json:"explained"`
}

// Transaction returns a transaction, or nil.
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

func descending(known map[lethe.Timestep]bool) []lethe.Timestep {
	times := slices.Sorted(maps.Keys(known))
	slices.Reverse(times)
	return times
}

// Graph is a timestep's graph in numbers.
type Graph struct {
	Revision lethe.Revision `json:"revision"`
	// Previous is the timestep before, or lethe.NoTimestep.
	Previous lethe.Timestep `json:"previous"`
	Nodes    int            `json:"nodes"`
	Payments int            `json:"payments"`
}

// storedGraph is a stored Graph.
type storedGraph struct {
	Graph
	// Pairs counts pairs of transactions with a payment in either direction.
	Pairs int `json:"pairs"`
}

// writeGraph stores a graph's numbers.
func writeGraph(w swapstore.Writer, m wire.Received, s *lethe.Snapshot) error {
	key := timestepkey.New(graphPrefix, m.Key.Timestep)
	if m.Deleted {
		w.Delete(key)
		return nil
	}
	both := make(map[lethe.Arc]bool, len(s.Payments))
	for _, p := range s.Payments {
		both[lethe.Arc{Source: min(p.Source, p.Target), Target: max(p.Source, p.Target)}] = true
	}
	return setJSON(w, key, storedGraph{Graph{m.Revision, m.Previous, len(s.Nodes), len(s.Payments)}, len(both)})
}

func readGraph(store swapstore.Reader, t lethe.Timestep) (*Graph, error) {
	g, err := readStored(store, t)
	if g == nil {
		return nil, err
	}
	return &g.Graph, err
}

func readStored(store swapstore.Reader, t lethe.Timestep) (*storedGraph, error) {
	g := new(storedGraph)
	if found, err := getJSON(store, timestepkey.New(graphPrefix, t), g); err != nil || !found {
		return nil, err
	}
	return g, nil
}
