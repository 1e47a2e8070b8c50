package score

import (
	"fmt"
	"math"

	"lethe"
	"lethe/canonical"
	"lethe/pipeline/wire"
	"lethe/scoring"
)

const (
	givenMagic   = "LGVN"
	givenVersion = 1
)

// given holds the probabilities that were published for one timestep, kept to
// be measured when its labels are in.
type given struct {
	nodes         []lethe.Pseudonym // ascending
	probabilities []float64
}

func (g *given) encode() []byte {
	w := canonical.NewWriter(givenMagic, givenVersion)
	w.Count(len(g.nodes))
	for i := range g.nodes {
		w.Bytes(g.nodes[i][:])
		w.Uint64(math.Float64bits(g.probabilities[i]))
	}
	return w.Seal()
}

func decodeGiven(message []byte) (*given, error) {
	r, err := canonical.NewReader(message, givenMagic, givenVersion)
	if err != nil {
		return nil, fmt.Errorf("probabilities given: %w", err)
	}
	n := r.Count(len(lethe.Pseudonym{}) + 8)
	g := &given{nodes: make([]lethe.Pseudonym, n), probabilities: make([]float64, n)}
	for i := range n {
		r.Bytes(g.nodes[i][:])
		g.probabilities[i] = math.Float64frombits(r.Uint64())
	}
	if err := r.Close(); err != nil {
		return nil, fmt.Errorf("probabilities given: %w", err)
	}
	return g, nil
}

// only keeps the nodes that the snapshot still holds and reports whether any
// was dropped.
func (g *given) only(s *lethe.Snapshot) (*given, bool) {
	out := &given{}
	for i, p := range g.nodes {
		if _, found := s.Find(p); found {
			out.nodes = append(out.nodes, p)
			out.probabilities = append(out.probabilities, g.probabilities[i])
		}
	}
	return out, len(out.nodes) != len(g.nodes)
}

// quality measures the probabilities against the labels that came in later.
// Both are ascending by pseudonym.
func (g *given) quality(labels []wire.NodeLabel, threshold float64) scoring.Summary {
	var probabilities []float64
	var known []lethe.Label
	at := 0
	for _, l := range labels {
		for at < len(g.nodes) && g.nodes[at].Compare(l.Pseudonym) < 0 {
			at++
		}
		if at < len(g.nodes) && g.nodes[at] == l.Pseudonym {
			probabilities = append(probabilities, g.probabilities[at])
			known = append(known, l.Label)
		}
	}
	return scoring.Summarise(probabilities, known, threshold)
}
