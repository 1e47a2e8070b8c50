// Package onehop adds features of a node's neighbourhood in the whole snapshot to its own: means
// of its neighbours' features, and the number of neighbours.
//
// These are the only data that cross shards. An extended row depends on the node and its
// neighbours only, so removing a node changes the rows of its neighbours and no others.
package onehop

import (
	"slices"

	"lethe"
	"lethe/internal/portable"
)

// Mode selects the added features.
type Mode uint8

const (
	// None adds nothing.
	None Mode = iota
	// Undirected adds the mean of all neighbours' features, zeros without any, and ln(1 + degree). A
	// neighbour counts once, regardless of the direction and number of payments.
	Undirected
	// Directed separates the payers and payees of a node: the payers' mean, the payees' mean, ln(1 +
	// payers), ln(1 + payees). A neighbour that is both counts in both.
	Directed
)

// ModeOf returns the mode of a configuration, which has one key for one-hop features and one for
// separate directions.
func ModeOf(oneHop, directed bool) Mode {
	switch {
	case directed:
		return Directed
	case oneHop:
		return Undirected
	default:
		return None
	}
}

// String returns none, undirected or directed.
func (m Mode) String() string { return [...]string{"none", "undirected", "directed"}[m] }

// Features returns the length of an extended row whose own features are f.
func (m Mode) Features(f int) int { return f + int(m)*(f+1) }

// Own returns the number of own features in an extended row of the given length, the inverse of
// Features.
func (m Mode) Own(row int) int { return (row - int(m)) / (int(m) + 1) }

// Join returns the snapshot with the rows of Rows. Everything except the features is shared with
// s; with None, s itself is returned.
func (m Mode) Join(s *lethe.Snapshot) *lethe.Snapshot {
	if m == None {
		return s
	}
	out := *s
	out.FeatureCount = m.Features(s.FeatureCount)
	out.Features = make([]float32, 0, len(s.Nodes)*out.FeatureCount)
	rows := m.Rows(s)
	for i := range s.Nodes {
		out.Features = rows.Append(out.Features, i)
	}
	return &out
}

// Rows returns the builder of a snapshot's rows.
func (m Mode) Rows(s *lethe.Snapshot) *Rows {
	r := &Rows{mode: m, s: s}
	if m == None {
		return r
	}
	r.payers, r.payees = make([][]uint32, len(s.Nodes)), make([][]uint32, len(s.Nodes))
	for _, p := range s.Payments { // ascending, so both lists ascend
		r.payers[p.Target] = append(r.payers[p.Target], p.Source)
		r.payees[p.Source] = append(r.payees[p.Source], p.Target)
	}
	return r
}

// Rows builds extended rows of a snapshot, which must not change meanwhile. Use it from one
// goroutine at a time.
type Rows struct {
	mode Mode
	s    *lethe.Snapshot
	// payers and payees are positions per node, ascending and without duplicates.
	payers, payees [][]uint32
	neighbours     []uint32 // scratch
}

// Append appends the row of node i: its features, the mean of each group of
// neighbours, and ln(1 + size) of each.
func (r *Rows) Append(dst []float32, i int) []float32 {
	dst = append(dst, r.s.Row(i)...)
	switch r.mode {
	case None:
	case Undirected:
		r.neighbours = append(append(r.neighbours[:0], r.payers[i]...), r.payees[i]...)
		slices.Sort(r.neighbours)
		neighbours := slices.Compact(r.neighbours)
		dst = appendSize(r.appendMean(dst, neighbours), neighbours)
	case Directed:
		dst = r.appendMean(r.appendMean(dst, r.payers[i]), r.payees[i])
		dst = appendSize(appendSize(dst, r.payers[i]), r.payees[i])
	}
	return dst
}

// appendMean appends the mean of the nodes' features over the present values: 0 without nodes,
// and missing if all values are missing. Sums are in double precision in the order of the nodes,
// so that the bits depend on nothing else.
func (r *Rows) appendMean(dst []float32, nodes []uint32) []float32 {
	f := r.s.FeatureCount
	from := len(dst)
	dst = slices.Grow(dst, f)[:from+f]
	for k := range f {
		sum, present := 0.0, 0
		for _, j := range nodes {
			if v := r.s.Features[int(j)*f+k]; !lethe.IsMissing(v) {
				sum += float64(v)
				present++
			}
		}
		if present == 0 && len(nodes) > 0 {
			dst[from+k] = lethe.Missing()
			continue
		}
		dst[from+k] = float32(sum / float64(max(1, present)))
	}
	return dst
}

func appendSize(dst []float32, nodes []uint32) []float32 {
	return append(dst, float32(portable.Log(1+float64(len(nodes)))))
}
