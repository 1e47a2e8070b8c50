package dataset

import "lethe"

// Shape of the background, chosen so that a stream has about 1.15 payments per transaction and
// mostly small trees and chains, like Elliptic.
const (
	// spendsEarlier is the probability that a transaction spends the output of an earlier one of
	// the step; spendsTwice that it has a second such input.
	spendsEarlier, spendsTwice = .91, .2
	// spendsIllicit replaces spendsEarlier for illicit transactions, which are paid within their
	// scheme.
	spendsIllicit = .35
	// recentNodes is how far back a chain looks for its last link.
	recentNodes = 6
	// peels is the probability that a hop of a layering chain pays an outsider.
	peels = .5
)

// drawPayments draws all payments of the step: those of the schemes, into and out of them, those of
// licit nodes in the same shapes, and the background. outsiders are the licit nodes in random
// order.
func (g *generatedStep) drawPayments(outsiders []int) {
	d := g.draw("payments")
	for _, scheme := range g.typologies {
		g.addScheme(scheme.Kind, scheme.Nodes)
		first, last := scheme.Nodes[0], scheme.Nodes[len(scheme.Nodes)-1]
		g.addPayment(outsiders[d.IntN(len(outsiders))], first)
		g.addPayment(last, outsiders[d.IntN(len(outsiders))])
		if scheme.Kind != Layering {
			continue
		}
		for _, hop := range scheme.Nodes {
			if d.Float64() < peels {
				g.addPayment(hop, outsiders[d.IntN(len(outsiders))])
			}
		}
	}
	g.payLicitShapes(d, outsiders)
	g.payBackground(d)
	g.sortPayments()
}

// payLicitShapes adds shapes that licit business has too: exchanges collect, pools pay out, wallets
// forward change. Without them the shape alone would reveal laundering.
func (g *generatedStep) payLicitShapes(d *lethe.Draw, outsiders []int) {
	shapes := [...]TypologyKind{FanIn, FanOut, Layering}
	for range g.typologies {
		size := minScheme + d.IntN(maxScheme-minScheme+1)
		if len(outsiders) < size {
			return
		}
		g.addScheme(shapes[d.IntN(len(shapes))], outsiders[:size])
		outsiders = outsiders[size:]
	}
}

// payBackground lets every node spend the outputs of earlier ones.
func (g *generatedStep) payBackground(d *lethe.Draw) {
	var spent []int // the sources so far, once for each payment
	for i := 1; i < len(g.classes); i++ {
		chance := spendsEarlier
		if g.classes[i] == lethe.Illicit {
			chance = spendsIllicit
		}
		inputs := 0
		if d.Float64() < chance {
			inputs++
			if d.Float64() < spendsTwice {
				inputs++
			}
		}
		for range inputs {
			source := earlier(d, i, spent)
			spent = append(spent, source)
			g.addPayment(source, i)
		}
	}
}

// earlier picks a node before i: mostly a recent one, which makes chains; sometimes one that has
// already paid others, which makes hubs; else any.
func earlier(d *lethe.Draw, i int, spent []int) int {
	switch u := d.Float64(); {
	case u < .6:
		return i - 1 - d.IntN(min(recentNodes, i))
	case u < .8 && len(spent) > 0:
		return spent[d.IntN(len(spent))]
	default:
		return d.IntN(i)
	}
}
