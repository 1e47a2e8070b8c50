package trees

import (
	"math"
)

// split is a way to cut a leaf in two.
type split struct {
	// gain is how much the loss falls, twice over.
	gain float64
	// position is that of the feature among those of the tree.
	position int
	// bin is the last bin of the left side.
	bin uint8
	// missingLeft sends rows that miss the feature left.
	missingLeft bool
	found       bool
}

// limits are what the configuration demands of both sides of a split.
type limits struct {
	scale
	rows   int
	weight uint64
}

func newLimits(s scale, config *Config) limits {
	return limits{scale: s, rows: config.MinChildRows, weight: max(1, uint64(config.MinChildWeight*s.unit))}
}

// column is a feature of a leaf that may be split.
type column struct {
	// feature is its number, and position where it stands among those of the tree.
	feature, position int
	// real is how many bins hold values; missing tells that one more holds the rows
	// without.
	real    int
	missing bool
	// direction is the way that a monotone feature is held to.
	direction int8
}

// improve makes best the best split of a leaf by a feature if that gains more. Of
// equal ones the lowest bin wins, and the left side for missing values.
func (l limits) improve(best *split, h []cell, all cell, f column) {
	if !f.missing {
		l.scan(best, h[:f.real], cell{}, all, split{position: f.position})
		return
	}
	absent := h[f.real]
	l.scan(best, h[:f.real], absent, all, split{position: f.position, missingLeft: true})
	if absent.packed != 0 {
		l.scan(best, h[:f.real], cell{}, all, split{position: f.position})
	}
}

// scan moves one bin after the other from the right side to the left. The leaf has
// at least twice the rows that a side needs.
//
// Most bins are ruled out without a division: with a and b for the denominators
// of both sides, G²/a + g²/b exceeds x only if G²b + g²a exceeds xab.
func (l limits) scan(best *split, h []cell, left, all cell, as split) {
	whole := l.quality(all)
	mask := uint64(1)<<l.shift - 1
	gradient, hessian := float64(all.gradient), float64(all.packed&mask)+l.l2
	toUnits := gradientUnit * gradientUnit / l.unit
	bar := float64((best.gain + whole) * toUnits)
	// Counts stand above the weights, so packed sums compare as counts do.
	leastRows, mostRows := uint64(l.rows)<<l.shift, all.packed&^mask-uint64(l.rows)<<l.shift|mask
	leastWeight, mostWeight := l.weight, all.packed&mask-min(l.weight, all.packed&mask)
	sum, packed := left.gradient, left.packed
	for bin := range h {
		sum += h[bin].gradient
		packed += h[bin].packed
		weight := packed & mask
		if packed < leastRows || weight < leastWeight {
			continue
		}
		if packed > mostRows || weight > mostWeight {
			return
		}
		g, a := float64(sum), float64(int64(weight))
		rest, b := gradient-g, hessian-a
		a += l.l2
		if float64(float64(g*g)*b)+float64(float64(rest*rest)*a) <= float64(bar*float64(a*b)) {
			continue
		}
		left = cell{gradient: sum, packed: packed}
		if gain := l.quality(left) + l.quality(all.minus(left)) - whole; gain > best.gain {
			*best = as
			best.gain, best.bin, best.found = gain, uint8(bin), true
			bar = float64((gain + whole) * toUnits)
		}
	}
}

// threshold is the largest value that goes left. Where the last bin goes left,
// only rows without a value are right.
func (b *binned) threshold(feature int, bin uint8) float32 {
	if t := b.thresholds[feature]; int(bin) < len(t) {
		return t[bin]
	}
	return math.MaxFloat32
}
