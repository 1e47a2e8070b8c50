// Package published holds published final predictions by timestep: to measure them once labels arrive, to know which
// transactions have one, and to recover them from predictions.v1.
package published

import (
	"fmt"
	"math"
	"slices"

	"lethe"
	"lethe/canonical"
	"lethe/pipeline/wire"
	"lethe/scoring/quality"
)

const (
	magic   = "LGVN"
	version = 1
)

// Score is the probability of illicit of a transaction.
type Score struct {
	Node        lethe.Pseudonym
	Probability float64
}

func byNode(a, b Score) int { return a.Node.Compare(b.Node) }

// Step is the final predictions of a timestep.
type Step struct {
	// Scores are ascending by pseudonym.
	Scores []Score
	// Threshold is that of class illicit, or NaN for a timestep that was passed over.
	Threshold float64
	// Late are the transactions that joined the scored timestep, ascending. They were scored by a later ensemble and are
	// not measured.
	Late []lethe.Pseudonym
}

// Unmeasured is a timestep of which the probabilities are unknown: all transactions of its graph count as late.
func Unmeasured(graph *lethe.Snapshot) *Step {
	p := &Step{Threshold: math.NaN()}
	for _, n := range graph.Nodes {
		p.Late = append(p.Late, n.Pseudonym)
	}
	return p
}

// Count is the number of transactions with a prediction.
func (p *Step) Count() int { return len(p.Scores) + len(p.Late) }

// Nodes returns the transactions with a prediction.
func (p *Step) Nodes() []lethe.Pseudonym {
	out := slices.Clone(p.Late)
	for _, s := range p.Scores {
		out = append(out, s.Node)
	}
	return out
}

// Holds reports whether the transaction has a prediction.
func (p *Step) Holds(node lethe.Pseudonym) bool {
	_, found := slices.BinarySearchFunc(p.Scores, Score{Node: node}, byNode)
	if !found {
		_, found = slices.BinarySearchFunc(p.Late, node, lethe.Pseudonym.Compare)
	}
	return found
}

// Lacks reports whether the graph has transactions without a prediction.
func (p *Step) Lacks(graph *lethe.Snapshot) bool {
	return slices.ContainsFunc(graph.Nodes, func(n lethe.SnapshotNode) bool { return !p.Holds(n.Pseudonym) })
}

// Only returns the predictions of the transactions of a graph.
func (p *Step) Only(graph *lethe.Snapshot) *Step {
	gone := func(node lethe.Pseudonym) bool {
		_, found := graph.Find(node)
		return !found
	}
	return &Step{
		Scores:    slices.DeleteFunc(slices.Clone(p.Scores), func(s Score) bool { return gone(s.Node) }),
		Threshold: p.Threshold,
		Late:      slices.DeleteFunc(slices.Clone(p.Late), gone),
	}
}

// With returns the predictions and those of another, which may be nil, that it lacks.
func (p *Step) With(other *Step) *Step {
	if other == nil {
		return p
	}
	out := &Step{Scores: slices.Clone(p.Scores), Threshold: p.Threshold, Late: slices.Clone(p.Late)}
	for _, s := range other.Scores {
		if !p.Holds(s.Node) {
			out.Scores = append(out.Scores, s)
		}
	}
	for _, node := range other.Late {
		if !p.Holds(node) {
			out.Late = append(out.Late, node)
		}
	}
	out.sort()
	return out
}

func (p *Step) sort() {
	slices.SortFunc(p.Scores, byNode)
	slices.SortFunc(p.Late, lethe.Pseudonym.Compare)
}

// Quality compares the probabilities with later labels, which are ascending by pseudonym. otherwise is the threshold if
// the step has none.
func (p *Step) Quality(labels []wire.NodeLabel, otherwise float64) quality.Summary {
	var probabilities []float64
	var known []lethe.Label
	at := 0
	for _, l := range labels {
		for at < len(p.Scores) && p.Scores[at].Node.Compare(l.Pseudonym) < 0 {
			at++
		}
		if at < len(p.Scores) && p.Scores[at].Node == l.Pseudonym {
			probabilities = append(probabilities, p.Scores[at].Probability)
			known = append(known, l.Label)
		}
	}
	threshold := p.Threshold
	if math.IsNaN(threshold) {
		threshold = otherwise
	}
	return quality.Summarise(probabilities, known, threshold)
}

// Encode returns the canonical form.
func (p *Step) Encode() []byte {
	w := canonical.NewWriter(magic, version)
	w.Uint64(math.Float64bits(p.Threshold))
	w.Count(len(p.Scores))
	for i := range p.Scores {
		w.Bytes(p.Scores[i].Node[:])
		w.Uint64(math.Float64bits(p.Scores[i].Probability))
	}
	if len(p.Late) > 0 {
		w.Count(len(p.Late))
		for i := range p.Late {
			w.Bytes(p.Late[i][:])
		}
	}
	return w.Seal()
}

// Decode reads the canonical form.
func Decode(message []byte) (*Step, error) {
	r, err := canonical.NewReader(message, magic, version)
	if err != nil {
		return nil, fmt.Errorf("published probabilities: %w", err)
	}
	p := &Step{Threshold: math.Float64frombits(r.Uint64())}
	p.Scores = make([]Score, r.Count(len(lethe.Pseudonym{})+8))
	for i := range p.Scores {
		r.Bytes(p.Scores[i].Node[:])
		p.Scores[i].Probability = math.Float64frombits(r.Uint64())
	}
	if r.Left() > 0 {
		p.Late = make([]lethe.Pseudonym, r.Count(len(lethe.Pseudonym{})))
		if r.Err() == nil && len(p.Late) == 0 {
			return nil, fmt.Errorf("published probabilities: %w: an empty list of late ones", canonical.ErrCorrupt)
		}
		for i := range p.Late {
			r.Bytes(p.Late[i][:])
		}
	}
	if err := r.Close(); err != nil {
		return nil, fmt.Errorf("published probabilities: %w", err)
	}
	return p, nil
}
