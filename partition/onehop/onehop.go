// Package onehop joins to a node's features what surrounds it in the whole
// snapshot: means of its neighbours' features, and how many neighbours there are.
//
// These are the one thing that crosses shards. A joined row depends on the node and
// its neighbours alone, so taking a node out changes the rows of its neighbours and
// no others.
package onehop

import (
	"slices"

	"lethe"
	"lethe/internal/portable"
)

// Mode says what is joined.
type Mode uint8

const (
	// None joins nothing.
	None Mode = iota
	// Undirected joins the mean of all neighbours' features, zeros without any, and
	// ln(1 + degree). Neighbours count once whichever way and however often money
	// flowed.
	Undirected
	// Directed keeps those who pay a node and those whom it pays apart: the payers'
	// mean, the payees' mean, ln(1 + payers), ln(1 + payees). Who is both counts in
	// both.
	Directed
)

// ModeOf returns the mode of a configuration, which has a key for one-hop features
// and one for keeping directions apart.
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

// Features returns how many features a row has once something was joined to its own
// f.
func (m Mode) Features(f int) int { return f + int(m)*(f+1) }

// Own returns the number of a transaction's own features of a row with so many, the
// inverse of Features.
func (m Mode) Own(row int) int { return (row - int(m)) / (int(m) + 1) }

// Join returns the snapshot with rows as Rows makes them. Everything but the
// features is shared with s, with None all.
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

// Rows returns what makes the rows of a snapshot one by one.
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

// Rows makes rows of a snapshot, which must not change while it is used. It is used by one
// goroutine at a time.
type Rows struct {
	mode Mode
	s    *lethe.Snapshot
	// payers and payees are positions per node, ascending and each once.
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

// appendMean appends the mean of the nodes' features, of those that have a value: without
// nodes 0, and missing if there are nodes and none has one. They are added in double
// precision in the order of the nodes, so that the bits depend on nothing else.
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
