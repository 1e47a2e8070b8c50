package dataset

import (
	"math"

	"lethe"
	"lethe/internal/portable/gomath"
)

// matrix is row-major.
type matrix struct {
	rows, columns int
	values        []float64
}

func newMatrix(rows, columns int) matrix {
	return matrix{rows, columns, make([]float64, rows*columns)}
}

func (x matrix) at(i, j int) float64     { return x.values[i*x.columns+j] }
func (x matrix) set(i, j int, v float64) { x.values[i*x.columns+j] = v }

// features returns the standardised rows of all nodes, row-major: local
// features, then aggregated ones. Values have four decimals, which keeps files
// small.
func (m *featureModel) features(g *generatedStep) []float32 {
	local := m.local(g)
	m.standardise(local, 0)
	around := m.aggregated(g, local)
	m.standardise(around, local.columns)
	out := make([]float32, 0, local.rows*(local.columns+around.columns))
	for i := range local.rows {
		for j := range local.columns {
			out = append(out, fourDecimals(local.at(i, j)))
		}
		for j := range around.columns {
			out = append(out, fourDecimals(around.at(i, j)))
		}
	}
	return out
}

// fourDecimals rounds; adding 0 converts -0 to +0.
func fourDecimals(v float64) float32 { return float32(math.Round(v*1e4)/1e4 + 0) }

// local returns the raw features derived from the nodes themselves.
func (m *featureModel) local(g *generatedStep) matrix {
	x := newMatrix(len(g.classes), len(m.locals))
	in, out := g.degrees()
	for i := range x.rows {
		d := g.draw("node", uint64(i))
		var latent [factors]float64
		for f := range latent {
			latent[f] = heavyTailed(d)
		}
		strength := g.strength(d, i)
		for j := range m.locals {
			// Every feature uses its draw, so that none shifts another's.
			noise := heavyTailed(d)
			x.set(i, j, m.locals[j].value(g, latent, noise, strength, g.kind[i]))
		}
		degrees := [degreeFeatures]int{in[i], out[i]}
		for j := range min(degreeFeatures, x.columns) {
			x.set(i, j, gomath.Log(float64(1+degrees[j])))
		}
	}
	return x
}

// value is the feature of one node: its latent factors, a season common to all nodes, noise, and
// the signal of laundering scaled by the node's strength.
func (l *localFeature) value(
	g *generatedStep, latent [factors]float64, noise, strength float64, kind TypologyKind,
) float64 {
	v := float64(l.noise * noise)
	for f, loading := range l.loading {
		v += float64(loading * latent[f])
	}
	v += float64(.15 * gomath.Sin(float64(2*math.Pi*float64(g.timestep))/7+l.season))
	signal := l.signal
	if g.drifted {
		signal = l.drifted
	}
	v += float64(strength * (signal + l.byKind[kind]))
	if l.skewed {
		return gomath.Exp(float64(.5 * min(v, 8)))
	}
	return v
}

// strength is how clearly a node shows laundering: some launderers are
// camouflaged, and a few licit ones look suspicious.
func (g *generatedStep) strength(d *lethe.Draw, i int) float64 {
	kind, much := d.Float64(), d.Float64()
	switch {
	case g.classes[i] == lethe.Licit && kind < .03:
		return .5 + float64(.7*much)
	case g.classes[i] == lethe.Licit:
		return 0
	case kind < .12:
		return .3 * much
	default:
		return .5 + float64(1.2*much)
	}
}

// heavyTailed is a normal draw of random scale: it has more extremes than a normal one.
func heavyTailed(d *lethe.Draw) float64 {
	return float64(d.Normal() * gomath.Exp(float64(.35*d.Normal())))
}

// degrees counts payments received and made.
func (g *generatedStep) degrees() (in, out []int) {
	in, out = make([]int, len(g.classes)), make([]int, len(g.classes))
	for _, p := range g.payments {
		out[p.Source]++
		in[p.Target]++
	}
	return in, out
}
