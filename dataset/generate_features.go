package dataset

import (
	"math"

	"lethe"
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
// small and hides the last bits of the machine's exponential function.
func (m *featureModel) features(w *world) []float32 {
	local := m.local(w)
	m.standardise(local, 0)
	around := m.aggregated(w, local)
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

// fourDecimals rounds; adding 0 turns a negative zero into the plain one.
func fourDecimals(v float64) float32 { return float32(math.Round(v*1e4)/1e4 + 0) }

// local returns the raw features that follow from the nodes themselves.
func (m *featureModel) local(w *world) matrix {
	x := newMatrix(len(w.hidden), len(m.traits))
	in, out := w.degrees()
	for i := range x.rows {
		d := w.draw("node", uint64(i))
		var hidden [factors]float64
		for f := range hidden {
			hidden[f] = heavy(d)
		}
		strength := w.strength(d, i)
		for j := range m.traits {
			// Every feature takes its draw, so that none shifts another's.
			noise := heavy(d)
			x.set(i, j, m.traits[j].value(w, hidden, noise, strength, w.kind[i]))
		}
		degrees := [degreeFeatures]int{in[i], out[i]}
		for j := range min(degreeFeatures, x.columns) {
			x.set(i, j, math.Log1p(float64(degrees[j])))
		}
	}
	return x
}

// value is the trait of one node: what its hidden traits say, a season that all
// share, noise, and the signal of laundering as strongly as the node shows it.
func (tr *trait) value(w *world, hidden [factors]float64, noise, strength float64, kind TypologyKind) float64 {
	v := tr.noise * noise
	for f, l := range tr.loading {
		v += l * hidden[f]
	}
	v += .15 * math.Sin(2*math.Pi*float64(w.timestep)/7+tr.season)
	signal := tr.signal
	if w.drifted {
		signal = tr.drifted
	}
	v += strength * (signal + tr.byKind[kind])
	if tr.skewed {
		return math.Exp(.5 * min(v, 8))
	}
	return v
}

// strength is how clearly a node shows laundering: some launderers are
// camouflaged, and a few licit ones look suspicious.
func (w *world) strength(d *lethe.Draw, i int) float64 {
	kind, much := d.Float64(), d.Float64()
	switch {
	case w.hidden[i] == lethe.Licit && kind < .03:
		return .5 + .7*much
	case w.hidden[i] == lethe.Licit:
		return 0
	case kind < .12:
		return .3 * much
	default:
		return .5 + 1.2*much
	}
}

// heavy is a normal draw of random scale: more extremes than a normal one has.
func heavy(d *lethe.Draw) float64 { return d.Normal() * math.Exp(.35*d.Normal()) }

// degrees counts payments received and made.
func (w *world) degrees() (in, out []int) {
	in, out = make([]int, len(w.hidden)), make([]int, len(w.hidden))
	for _, p := range w.payments {
		out[p.Source]++
		in[p.Target]++
	}
	return in, out
}
