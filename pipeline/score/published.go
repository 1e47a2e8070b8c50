package score

import (
	"fmt"
	"math"

	"lethe"
	"lethe/canonical"
	"lethe/pipeline/wire"
	"lethe/scoring/quality"
)

const (
	publishedMagic   = "LGVN"
	publishedVersion = 1
)

// published holds the probabilities that were published for one timestep, kept to
// be measured when its labels are in.
type published struct {
	nodes         []lethe.Pseudonym // ascending
	probabilities []float64
}

func (p *published) encode() []byte {
	w := canonical.NewWriter(publishedMagic, publishedVersion)
	w.Count(len(p.nodes))
	for i := range p.nodes {
		w.Bytes(p.nodes[i][:])
		w.Uint64(math.Float64bits(p.probabilities[i]))
	}
	return w.Seal()
}

func decodePublished(message []byte) (*published, error) {
	r, err := canonical.NewReader(message, publishedMagic, publishedVersion)
	if err != nil {
		return nil, fmt.Errorf("published probabilities: %w", err)
	}
	n := r.Count(len(lethe.Pseudonym{}) + 8)
	p := &published{nodes: make([]lethe.Pseudonym, n), probabilities: make([]float64, n)}
	for i := range n {
		r.Bytes(p.nodes[i][:])
		p.probabilities[i] = math.Float64frombits(r.Uint64())
	}
	if err := r.Close(); err != nil {
		return nil, fmt.Errorf("published probabilities: %w", err)
	}
	return p, nil
}

// only keeps the nodes that the snapshot still holds and reports whether any
// was dropped.
func (p *published) only(s *lethe.Snapshot) (*published, bool) {
	out := &published{}
	for i, node := range p.nodes {
		if _, found := s.Find(node); found {
			out.nodes = append(out.nodes, node)
			out.probabilities = append(out.probabilities, p.probabilities[i])
		}
	}
	return out, len(out.nodes) != len(p.nodes)
}

// quality measures the probabilities against the labels that came in later.
// Both are ascending by pseudonym.
func (p *published) quality(labels []wire.NodeLabel, threshold float64) quality.Summary {
	var probabilities []float64
	var known []lethe.Label
	at := 0
	for _, l := range labels {
		for at < len(p.nodes) && p.nodes[at].Compare(l.Pseudonym) < 0 {
			at++
		}
		if at < len(p.nodes) && p.nodes[at] == l.Pseudonym {
			probabilities = append(probabilities, p.probabilities[at])
			known = append(known, l.Label)
		}
	}
	return quality.Summarise(probabilities, known, threshold)
}
