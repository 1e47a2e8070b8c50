package dataset

import "lethe"

// Shape of the background, chosen so that a stream has about 1.15 payments a
// transaction and mostly small trees and chains, as Elliptic has.
const (
	// spendsEarlier is the chance that a transaction spends what an earlier one
	// of the step paid; spendsTwice that it has a second such input.
	spendsEarlier, spendsTwice = .91, .2
	// spendsIllicit replaces spendsEarlier for illicit transactions, which are
	// paid within their scheme.
	spendsIllicit = .35
	// recentNodes is how far back a chain looks for its last link.
	recentNodes = 6
	// peels is the chance that a hop of a layering chain pays an outsider.
	peels = .5
)

// pay draws all payments of the step: the schemes with their ways in and out,
// honest business of the same shapes, and the background. outsiders are the
// licit nodes in random order.
func (w *world) pay(outsiders []int) {
	d := w.draw("payments")
	for _, scheme := range w.typologies {
		w.wire(scheme.Kind, scheme.Nodes)
		first, last := scheme.Nodes[0], scheme.Nodes[len(scheme.Nodes)-1]
		w.join(outsiders[d.IntN(len(outsiders))], first)
		w.join(last, outsiders[d.IntN(len(outsiders))])
		if scheme.Kind != Layering {
			continue
		}
		for _, hop := range scheme.Nodes {
			if d.Float64() < peels {
				w.join(hop, outsiders[d.IntN(len(outsiders))])
			}
		}
	}
	w.payHonestly(d, outsiders)
	w.payBackground(d)
	w.settle()
}

// payHonestly adds shapes that honest business has too: exchanges collect,
// pools pay out, wallets hand change on. Without them the shape alone would
// give laundering away.
func (w *world) payHonestly(d *lethe.Draw, outsiders []int) {
	honest := [...]TypologyKind{FanIn, FanOut, Layering}
	for range w.typologies {
		size := minScheme + d.IntN(maxScheme-minScheme+1)
		if len(outsiders) < size {
			return
		}
		w.wire(honest[d.IntN(len(honest))], outsiders[:size])
		outsiders = outsiders[size:]
	}
}

// payBackground lets every node spend what earlier ones paid.
func (w *world) payBackground(d *lethe.Draw) {
	var spent []int // the sources so far, once for each payment
	for i := 1; i < len(w.hidden); i++ {
		chance := spendsEarlier
		if w.hidden[i] == lethe.Illicit {
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
			w.join(source, i)
		}
	}
}

// earlier picks a node before i: mostly a recent one, which makes chains;
// sometimes one that already paid others, which makes hubs; else any.
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
