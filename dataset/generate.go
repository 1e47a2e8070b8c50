package dataset

import (
	"cmp"
	"fmt"
	"slices"

	"lethe"
)

// Generate makes an Elliptic-style stream in which money is laundered: sparse
// payments (about 1.15 a transaction), labels that name few of the illicit
// transactions, and among these the shapes that anti-money-laundering
// guidance describes (see TypologyKind). A model can learn it, but not
// perfectly: part of the illicit transactions is camouflaged, some licit ones
// look suspicious, and from DriftStep on laundering changes.
//
// Every draw is keyed by seed, purpose, timestep and transaction. The same
// options give the same stream on any number of cores, and the first steps do
// not depend on Steps. The error reports all options outside their bounds.
func Generate(opts GenerateOptions) (*Stream, error) {
	if err := opts.Validate(); err != nil {
		return nil, fmt.Errorf("generate: %w", err)
	}
	model := newFeatureModel(opts)
	names := newNaming(opts.Seed)
	s := &Stream{Name: "generated", FeatureCount: opts.Features}
	for t := lethe.Timestep(1); t <= lethe.Timestep(opts.Steps); t++ {
		w := newWorld(opts, t, opts.NodesPerStep)
		s.Steps = append(s.Steps, w.step(names, model.features(w)))
	}
	return s, nil
}

// world is one generated timestep before it gets ids.
type world struct {
	seed     uint64
	timestep lethe.Timestep
	// drifted is true from the drift step on.
	drifted bool
	// hidden is the true class of every node, illicit or licit; labels is what
	// is known of it.
	hidden, labels []lethe.Label
	// kind is the typology that a node takes part in, or 0.
	kind       []TypologyKind
	typologies []Typology
	// payments are ordered by target, then by source, without repetition.
	payments []lethe.Arc
}

// newWorld draws classes, typologies, labels and payments of n nodes.
func newWorld(opts GenerateOptions, t lethe.Timestep, n int) *world {
	w := &world{
		seed: opts.Seed, timestep: t, drifted: t >= opts.DriftStep,
		hidden: make([]lethe.Label, n),
		labels: make([]lethe.Label, n),
		kind:   make([]TypologyKind, n),
	}
	d := w.draw("classes")
	// The share of laundering swings between steps, as Elliptic's does.
	swing := .7 + .6*d.Float64()
	known := max(minLabelledIllicit, round(opts.IllicitFraction*swing*float64(n)))
	illicit := known + round(hiddenPerLabelled*float64(known))
	order := permutation(d, n)
	for _, i := range order {
		w.hidden[i] = lethe.Licit
	}
	for _, i := range order[:illicit] {
		w.hidden[i] = lethe.Illicit
	}
	for _, i := range permutation(d, illicit)[:known] {
		w.labels[order[i]] = lethe.Illicit
	}
	for _, i := range order[illicit : illicit+round(opts.LicitFraction*float64(n))] {
		w.labels[i] = lethe.Licit
	}
	w.organise(order[:illicit])
	w.pay(order[illicit:])
	return w
}

// draw returns the world's numbers for one purpose.
func (w *world) draw(purpose string, coords ...uint64) *lethe.Draw {
	return lethe.NewDraw(w.seed, "generate/"+purpose, append([]uint64{uint64(w.timestep)}, coords...)...)
}

// step names the nodes. features is row-major.
func (w *world) step(names naming, features []float32) Step {
	n := len(w.hidden)
	width := len(features) / n
	s := Step{Timestep: w.timestep, Truth: &Truth{Classes: w.hidden, Typologies: w.typologies}}
	for i := range n {
		id := names.id(w.timestep, i, n)
		s.Transactions = append(s.Transactions, lethe.Transaction{
			ID: id, Timestep: w.timestep, Features: features[i*width : (i+1)*width : (i+1)*width],
		})
		if w.labels[i] != lethe.Unknown {
			s.Labels = append(s.Labels, lethe.LabelRecord{ID: id, Timestep: w.timestep, Label: w.labels[i]})
		}
	}
	for _, p := range w.payments {
		s.Payments = append(s.Payments, lethe.Payment{
			Source: s.Transactions[p.Source].ID, Target: s.Transactions[p.Target].ID, Timestep: w.timestep,
		})
	}
	return s
}

// join adds a payment.
func (w *world) join(source, target int) {
	if source != target {
		w.payments = append(w.payments, lethe.Arc{Source: uint32(source), Target: uint32(target)})
	}
}

// settle orders the payments by target, the order in which money arrives, and
// drops repetitions.
func (w *world) settle() {
	slices.SortFunc(w.payments, func(p, q lethe.Arc) int {
		return cmp.Or(cmp.Compare(p.Target, q.Target), cmp.Compare(p.Source, q.Source))
	})
	w.payments = slices.Compact(w.payments)
}

// permutation returns 0..n-1 in random order (Fisher and Yates).
func permutation(d *lethe.Draw, n int) []int {
	order := make([]int, n)
	for i := range order {
		j := d.IntN(i + 1)
		order[i], order[j] = order[j], i
	}
	return order
}

func round(x float64) int { return int(x + .5) }
