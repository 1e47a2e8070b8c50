package trees

import (
	"math"

	"lethe"
)

// bounds limit a leaf's output because of the monotone features above it.
type bounds struct{ lowest, highest float64 }

func unbounded() bounds { return bounds{math.Inf(-1), math.Inf(1)} }

func (b bounds) hold(output float64) float64 { return min(max(output, b.lowest), b.highest) }

// under returns the bounds of both children of a split with these outputs: neither side may cross
// the midpoint. This is the basic method of LightGBM.
func (b bounds) under(direction int8, left, right float64) (bounds, bounds) {
	l, r := b, b
	middle := (left + right) / 2
	switch direction {
	case 1:
		l.highest, r.lowest = middle, middle
	case -1:
		l.lowest, r.highest = middle, middle
	}
	return l, r
}

// careful searches splits where limits.improve is insufficient: with monotone features, several
// sums per row (forests of more than two classes) or one random threshold per feature.
type careful struct {
	limits
	// all are the leaf's sums, one per output.
	all    []cell
	bounds bounds
	// constrained means that bounds and directions apply.
	constrained bool
	// random means that a feature has one threshold, drawn by the leaf's draw.
	random bool
	draw   lethe.Draw
	// sums are the histograms of the current feature, one per output.
	sums [][]cell
	// left and right are scratch.
	left, right []cell
}

func newCareful(l limits, config *Config, outputs int) careful {
	return careful{
		limits: l, constrained: config.constrained(), random: config.Kind == Extra,
		sums: make([][]cell, outputs), left: make([]cell, outputs), right: make([]cell, outputs),
	}
}

// improve replaces best by the best split of the leaf on a feature if that gains more.
func (c *careful) improve(best *split, f column) {
	only := -1
	if c.random {
		if only = c.threshold(c.sums[0][:f.real], f); only < 0 {
			return
		}
	}
	if !f.missing {
		c.scan(best, f, split{position: f.position}, only)
		return
	}
	c.scan(best, f, split{position: f.position, missingLeft: true}, only)
	if c.sums[0][f.real].packed != 0 {
		c.scan(best, f, split{position: f.position}, only)
	}
}

// threshold draws one of the bins that separate the leaf's rows, or returns -1 if none does.
func (c *careful) threshold(h []cell, f column) int {
	from, to := 0, len(h)-1
	for from < len(h) && h[from].packed == 0 {
		from++
	}
	for to >= 0 && h[to].packed == 0 {
		to--
	}
	switch {
	case from < to:
		d := c.draw.At(2 + uint64(f.feature)) // 0 and 1 are the children
		return from + d.IntN(to-from)
	case from == to && f.missing:
		return from // rows with a value against rows without
	default:
		return -1
	}
}

// scan tries every bin, or just one.
func (c *careful) scan(best *split, f column, as split, only int) {
	whole := c.whole()
	for k := range c.left {
		c.left[k] = cell{}
		if as.missingLeft {
			c.left[k] = c.sums[k][f.real]
		}
	}
	for bin := range f.real {
		if c.sums[0][bin].packed == 0 && bin != only {
			continue
		}
		for k := range c.left {
			c.left[k] = c.left[k].plus(c.sums[k][bin])
			c.right[k] = c.all[k].minus(c.left[k])
		}
		if only >= 0 && bin != only || !c.allowed(c.left[0]) || !c.allowed(c.right[0]) {
			continue
		}
		if gain := c.gain(f.direction) - whole; gain > best.gain {
			*best = as
			best.gain, best.bin, best.found = gain, uint8(bin), true
		}
	}
}

func (c *careful) allowed(side cell) bool {
	return c.count(side) >= c.rows && c.weigh(side) >= c.weight
}

// whole returns the worth of the unsplit leaf.
func (c *careful) whole() float64 {
	sum := 0.0
	for _, all := range c.all {
		sum += c.worth(all)
	}
	return sum
}

// gain returns the worth of both sides, or none if they violate the feature's direction.
func (c *careful) gain(direction int8) float64 {
	if c.constrained && direction != 0 {
		left, right := c.bounds.hold(c.output(c.left[0])), c.bounds.hold(c.output(c.right[0]))
		if float64(direction)*left > float64(direction)*right {
			return math.Inf(-1)
		}
	}
	sum := 0.0
	for k := range c.left {
		sum += c.worth(c.left[k]) + c.worth(c.right[k])
	}
	return sum
}

// worth is how much a leaf with these sums lowers the loss, times two, with its output limited by
// its bounds: -(2Gw + (H+λ)w²).
func (c *careful) worth(sums cell) float64 {
	if !c.constrained {
		return c.quality(sums)
	}
	w := c.bounds.hold(c.output(sums))
	// The conversion prevents fusing the quotient into 2g, which is g + g.
	g, h := float64(float64(sums.gradient)/gradientUnit), (float64(c.weigh(sums))+c.l2)/c.unit
	return -(float64(2*g*w) + float64(h*float64(w*w)))
}
