package dataset

import (
	"cmp"
	"fmt"
	"slices"

	"lethe"
)

// Generate creates an Elliptic-style stream with money laundering: sparse payments (about 1.15 a
// transaction), labels for only a few of the illicit transactions, and among these the schemes that
// anti-money-laundering guidance describes (see TypologyKind). A model can learn it, but not
// perfectly: part of the illicit transactions is camouflaged, some licit ones look suspicious, and
// from DriftStep on laundering changes.
//
// Every draw is keyed by seed, purpose, timestep and transaction. The same options give the same
// stream on any number of cores, and the first steps do not depend on Steps. The error reports all
// options out of range.
func Generate(opts GenerateOptions) (*Stream, error) {
	if err := opts.Validate(); err != nil {
		return nil, fmt.Errorf("generate: %w", err)
	}
	model := newFeatureModel(opts)
	ids := newIDSequence(opts.Seed)
	s := &Stream{Name: "generated", FeatureCount: opts.Features, FeatureNames: model.names()}
	for t := lethe.Timestep(1); t <= lethe.Timestep(opts.Steps); t++ {
		g := newGeneratedStep(opts, t, opts.NodesPerStep)
		s.Steps = append(s.Steps, g.step(ids, model.features(g)))
	}
	return s, nil
}

// generatedStep is one timestep before it gets ids.
type generatedStep struct {
	seed     uint64
	timestep lethe.Timestep
	// drifted is true from the drift step on.
	drifted bool
	// classes are the true classes of the nodes, illicit or licit; labels are the known ones.
	classes, labels []lethe.Label
	// kind is the typology of a node's scheme, or 0.
	kind       []TypologyKind
	typologies []Typology
	// payments are ordered by target, then by source, without duplicates.
	payments []lethe.Arc
}

// newGeneratedStep draws classes, typologies, labels and payments of n nodes.
func newGeneratedStep(opts GenerateOptions, t lethe.Timestep, n int) *generatedStep {
	g := &generatedStep{
		seed: opts.Seed, timestep: t, drifted: t >= opts.DriftStep,
		classes: make([]lethe.Label, n),
		labels:  make([]lethe.Label, n),
		kind:    make([]TypologyKind, n),
	}
	d := g.draw("classes")
	// The share of laundering varies between steps, as Elliptic's does.
	swing := .7 + float64(.6*d.Float64())
	known := max(minLabelledIllicit, round(float64(opts.IllicitFraction*swing*float64(n))))
	illicit := known + round(float64(hiddenPerLabelled*float64(known)))
	order := permutation(d, n)
	for _, i := range order {
		g.classes[i] = lethe.Licit
	}
	for _, i := range order[:illicit] {
		g.classes[i] = lethe.Illicit
	}
	for _, i := range permutation(d, illicit)[:known] {
		g.labels[order[i]] = lethe.Illicit
	}
	for _, i := range order[illicit : illicit+round(float64(opts.LicitFraction*float64(n)))] {
		g.labels[i] = lethe.Licit
	}
	g.drawSchemes(order[:illicit])
	g.drawPayments(order[illicit:])
	return g
}

// draw returns the step's random numbers for one purpose.
func (g *generatedStep) draw(purpose string, coords ...uint64) *lethe.Draw {
	return lethe.NewDraw(g.seed, "generate/"+purpose, append([]uint64{uint64(g.timestep)}, coords...)...)
}

// step assigns ids to the nodes. features is row-major.
func (g *generatedStep) step(ids idSequence, features []float32) Step {
	n := len(g.classes)
	width := len(features) / n
	s := Step{Timestep: g.timestep, Truth: &Truth{Classes: g.classes, Typologies: g.typologies}}
	for i := range n {
		id := ids.id(g.timestep, i, n)
		s.Transactions = append(s.Transactions, lethe.Transaction{
			ID: id, Timestep: g.timestep, Features: features[i*width : (i+1)*width : (i+1)*width],
		})
		if g.labels[i] != lethe.Unknown {
			s.Labels = append(s.Labels, lethe.LabelRecord{ID: id, Timestep: g.timestep, Label: g.labels[i]})
		}
	}
	for _, p := range g.payments {
		s.Payments = append(s.Payments, lethe.Payment{
			Source: s.Transactions[p.Source].ID, Target: s.Transactions[p.Target].ID, Timestep: g.timestep,
		})
	}
	return s
}

// addPayment adds a payment.
func (g *generatedStep) addPayment(source, target int) {
	if source != target {
		g.payments = append(g.payments, lethe.Arc{Source: uint32(source), Target: uint32(target)})
	}
}

// sortPayments orders the payments by target, the order in which money arrives, and removes
// duplicates.
func (g *generatedStep) sortPayments() {
	slices.SortFunc(g.payments, func(p, q lethe.Arc) int {
		return cmp.Or(cmp.Compare(p.Target, q.Target), cmp.Compare(p.Source, q.Source))
	})
	g.payments = slices.Compact(g.payments)
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
