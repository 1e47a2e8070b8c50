package dataset

import (
	"fmt"

	"lethe"
)

// TypologyKind is a kind of laundering scheme, named as in the literature on synthetic laundering
// data (Altman et al., "Realistic Synthetic Financial Transactions for Anti-Money Laundering
// Models", NeurIPS 2023).
type TypologyKind uint8

// The typologies. NumTypologies is their number including 0, which means none.
const (
	// FanIn: many transactions pay one collector.
	FanIn TypologyKind = iota + 1
	// FanOut: one transaction pays many (smurfing).
	FanOut
	// Cycle: money returns to its origin.
	Cycle
	// Layering: a chain in which every hop splits off a part.
	Layering
	// ScatterGather: a fan-out whose parts are collected again.
	ScatterGather
	NumTypologies = 6
)

// String returns the typology's name.
func (k TypologyKind) String() string {
	if k < 1 || k >= NumTypologies {
		return fmt.Sprintf("TypologyKind(%d)", uint8(k))
	}
	return [NumTypologies]string{"", "fan-in", "fan-out", "cycle", "layering", "scatter-gather"}[k]
}

// Typology is one laundering scheme of a step.
type Typology struct {
	Kind TypologyKind
	// Nodes are positions in the step's transactions, in the order in which they receive the
	// money: the collector of a fan-in, the payer of a fan-out, both ends of a scatter-gather
	// (payer first, collector last), a chain in its order.
	Nodes []int
}

// Truth is the generator's ground truth of a step.
type Truth struct {
	// Classes holds the true class of every transaction, illicit or licit,
	// labelled or not.
	Classes []lethe.Label
	// Typologies are disjoint and consist of illicit transactions only. A few illicit transactions
	// belong to none.
	Typologies []Typology
}

// Sizes of a scheme, in transactions.
const (
	minScheme = 4
	maxScheme = 9
)

// mix returns the weights of the typologies. After the drift, scatter-gather and layering replace
// the plain fans.
func mix(drifted bool) [NumTypologies]int {
	if drifted {
		return [NumTypologies]int{FanIn: 10, FanOut: 10, Cycle: 15, Layering: 25, ScatterGather: 40}
	}
	return [NumTypologies]int{FanIn: 25, FanOut: 25, Cycle: 20, Layering: 20, ScatterGather: 10}
}

// drawSchemes groups the illicit nodes into schemes. The last few may remain without one.
func (g *generatedStep) drawSchemes(illicit []int) {
	d := g.draw("typologies")
	for len(illicit) >= minScheme {
		size := min(len(illicit), minScheme+d.IntN(maxScheme-minScheme+1))
		scheme := Typology{Kind: pickKind(d, mix(g.drifted)), Nodes: append([]int(nil), illicit[:size]...)}
		for _, i := range scheme.Nodes {
			g.kind[i] = scheme.Kind
		}
		g.typologies = append(g.typologies, scheme)
		illicit = illicit[size:]
	}
}

func pickKind(d *lethe.Draw, weights [NumTypologies]int) TypologyKind {
	total := 0
	for _, weight := range weights {
		total += weight
	}
	at := d.IntN(total)
	kind := TypologyKind(0)
	for at >= weights[kind] {
		at -= weights[kind]
		kind++
	}
	return kind
}

// addScheme adds the payments within a scheme.
func (g *generatedStep) addScheme(kind TypologyKind, nodes []int) {
	last := len(nodes) - 1
	switch kind {
	case FanIn:
		for _, i := range nodes[1:] {
			g.addPayment(i, nodes[0])
		}
	case FanOut:
		for _, i := range nodes[1:] {
			g.addPayment(nodes[0], i)
		}
	case Cycle:
		for k, i := range nodes {
			g.addPayment(i, nodes[(k+1)%len(nodes)])
		}
	case Layering:
		for k, i := range nodes[:last] {
			g.addPayment(i, nodes[k+1])
		}
	case ScatterGather:
		for _, i := range nodes[1:last] {
			g.addPayment(nodes[0], i)
			g.addPayment(i, nodes[last])
		}
	}
}
