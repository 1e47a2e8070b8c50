package trees

import "math"

// split is a split of a leaf.
type split struct {
	// gain is the reduction of the loss, times two.
	gain float64
	// position is the feature's position among those of the tree.
	position int
	// bin is the last bin of the left side.
	bin uint8
	// missingLeft sends rows that miss the feature left.
	missingLeft bool
	found       bool
}

// limits are the configuration's requirements for both sides of a split.
type limits struct {
	scale
	rows   int
	weight uint64
}

func newLimits(s scale, config *Config) limits {
	return limits{scale: s, rows: config.MinChildRows, weight: max(1, uint64(config.MinChildWeight*s.unit))}
}

// column is a feature of a leaf to split.
type column struct {
	// feature is its number, and position its position among those of the tree.
	feature, position int
	// real is the number of bins with values; missing means that one more bin holds the rows without
	// a value.
	real    int
	missing bool
}

// improve replaces best by the best split of a leaf on a feature if that gains more. In a tie the
// lowest bin wins, and the left side for missing values.
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

// scan moves one bin after the other from the right side to the left. The leaf must have at least
// twice the minimum number of rows.
//
// Most bins are ruled out without a division: with denominators a and b of the two sides, G²/a +
// g²/b exceeds x only if G²b + g²a exceeds xab.
func (l limits) scan(best *split, h []cell, left, all cell, as split) {
	whole := l.quality(all)
	mask := uint64(1)<<l.shift - 1
	gradient, hessian := float64(all.gradient), float64(all.packed&mask)+l.l2
	toUnits := gradientUnit * gradientUnit / l.unit
	bar := float64((best.gain + whole) * toUnits)
	// Counts are above the weights, so packed sums compare like counts.
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

// threshold returns the largest value that goes left. If the last bin goes left, only rows
// without a value are right.
func (b *binned) threshold(feature int, bin uint8) float32 {
	if t := b.thresholds[feature]; int(bin) < len(t) {
		return t[bin]
	}
	return math.MaxFloat32
}
