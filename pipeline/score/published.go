package score

import (
	"fmt"
	"math"
	"slices"

	"lethe"
	"lethe/canonical"
	"lethe/metrics/events"
	"lethe/pipeline/wire"
	"lethe/scoring/decision"
	"lethe/scoring/quality"
)

const (
	publishedMagic   = "LGVN"
	publishedVersion = 1
)

// published holds the published probabilities of a timestep, to be measured when its labels arrive.
type published struct {
	nodes         []lethe.Pseudonym // ascending
	probabilities []float64
	// threshold is that of the served class, or NaN for a skipped timestep.
	threshold float64
	// late are the transactions that joined the scored timestep, ascending. They were scored by a later ensemble and are
	// not measured.
	late []lethe.Pseudonym
}

// count is the number of transactions with a prediction.
func (p *published) count() int { return len(p.nodes) + len(p.late) }

// holds reports whether the transaction has a prediction.
func (p *published) holds(node lethe.Pseudonym) bool {
	_, found := slices.BinarySearchFunc(p.nodes, node, lethe.Pseudonym.Compare)
	if !found {
		_, found = slices.BinarySearchFunc(p.late, node, lethe.Pseudonym.Compare)
	}
	return found
}

func (p *published) encode() []byte {
	w := canonical.NewWriter(publishedMagic, publishedVersion)
	w.Uint64(math.Float64bits(p.threshold))
	w.Count(len(p.nodes))
	for i := range p.nodes {
		w.Bytes(p.nodes[i][:])
		w.Uint64(math.Float64bits(p.probabilities[i]))
	}
	if len(p.late) > 0 {
		w.Count(len(p.late))
		for i := range p.late {
			w.Bytes(p.late[i][:])
		}
	}
	return w.Seal()
}

func decodePublished(message []byte) (*published, error) {
	r, err := canonical.NewReader(message, publishedMagic, publishedVersion)
	if err != nil {
		return nil, fmt.Errorf("published probabilities: %w", err)
	}
	p := &published{threshold: math.Float64frombits(r.Uint64())}
	n := r.Count(len(lethe.Pseudonym{}) + 8)
	p.nodes, p.probabilities = make([]lethe.Pseudonym, n), make([]float64, n)
	for i := range n {
		r.Bytes(p.nodes[i][:])
		p.probabilities[i] = math.Float64frombits(r.Uint64())
	}
	if r.Left() > 0 {
		p.late = make([]lethe.Pseudonym, r.Count(len(lethe.Pseudonym{})))
		if r.Err() == nil && len(p.late) == 0 {
			return nil, fmt.Errorf("published probabilities: %w: an empty list of late ones", canonical.ErrCorrupt)
		}
		for i := range p.late {
			r.Bytes(p.late[i][:])
		}
	}
	if err := r.Close(); err != nil {
		return nil, fmt.Errorf("published probabilities: %w", err)
	}
	return p, nil
}

// only keeps the nodes of a snapshot and reports whether any was dropped.
func (p *published) only(s *lethe.Snapshot) (*published, bool) {
	out := &published{threshold: p.threshold}
	for _, node := range p.late {
		if _, found := s.Find(node); found {
			out.late = append(out.late, node)
		}
	}
	for i, node := range p.nodes {
		if _, found := s.Find(node); found {
			out.nodes = append(out.nodes, node)
			out.probabilities = append(out.probabilities, p.probabilities[i])
		}
	}
	return out, out.count() != p.count()
}

// lacks reports whether the snapshot has transactions without a prediction.
func (p *published) lacks(s *lethe.Snapshot) bool {
	return slices.ContainsFunc(s.Nodes, func(n lethe.SnapshotNode) bool { return !p.holds(n.Pseudonym) })
}

// quality compares the probabilities with later labels. Both are ascending by pseudonym. otherwise is the threshold if
// none is stored.
func (p *published) quality(labels []wire.NodeLabel, otherwise float64) quality.Summary {
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
	threshold := p.threshold
	if math.IsNaN(threshold) {
		threshold = otherwise
	}
	return quality.Summarise(probabilities, known, threshold)
}

// measure compares the predictions of a timestep with its later labels, once both exist (prequential evaluation).
func (l *logic) measure(t lethe.Timestep) error {
	q, err := l.compare(t)
	if err != nil || q == nil {
		return err
	}
	l.state.quality[t] = *q
	summary := q.summary
	if summary == nil {
		return nil
	}
	l.o.Listener.QualityMeasured(events.QualityMeasured{
		Timestep: t, AUC: orNaN(summary.AUC), MacroF1: summary.MacroF1, IllicitF1: summary.IllicitF1,
		CalibrationError: orNaN(summary.ExpectedCalibrationError),
	})
	return nil
}

func orNaN(measure *float64) float64 {
	if measure == nil {
		return math.NaN()
	}
	return *measure
}

// compare returns the quality of the predictions of a timestep, or nil. It is not stored, because it is computed from
// records.
func (l *logic) compare(t lethe.Timestep) (*stepQuality, error) {
	predicted, err := l.state.published(t)
	if err != nil || predicted == nil {
		return nil, err
	}
	q := &stepQuality{predictions: predicted.count()}
	if len(predicted.nodes) == 0 {
		return q, nil // late ones are not measured
	}
	manifest, err := l.state.manifest(t)
	if err != nil || manifest == nil {
		return q, err
	}
	summary := predicted.quality(manifest.Labels, decision.Choose(l.predictor.rule, nil, nil))
	q.summary = &summary
	return q, nil
}

// compareAll compares all stored predictions when the role is opened.
func (l *logic) compareAll() error {
	for t := range l.state.quality {
		q, err := l.compare(t)
		if err != nil {
			return err
		}
		l.state.quality[t] = *q
	}
	return nil
}

// stepQuality is the quality of the predictions of a timestep.
type stepQuality struct {
	predictions int
	// summary is nil without labels.
	summary *quality.Summary
}
