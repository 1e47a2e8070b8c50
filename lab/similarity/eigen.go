package similarity

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"lethe"
	"lethe/lab/undirected"
)

// tieTolerance, times the largest |eigenvalue|, is the distance below which two eigenvalues count
// as equal. It is a hundred times the error of the eigensolvers and far below any gap in the
// graph's own spectrum.
const tieTolerance = 1e-8

// eigenpair is an eigenvalue of the whole graph and its unit eigenvector on one
// component; it is zero elsewhere.
type eigenpair struct {
	value float64
	// residual is |A u - value u|.
	residual float64
	nodes    []int
	vector   []float64
}

// Embedding holds a graph's nodes as points in [0, 1]^d.
type Embedding struct {
	NumNodes, Dimensions int
	// Values are the eigenvalues of the columns; they are fewer than Dimensions if the graph has
	// fewer nodes, and the remaining columns are zero then.
	Values []float64
	// Entries is row-major: NumNodes rows of Dimensions.
	Entries []float64
	// Residual is the largest |A u - λ u| / |λ_1| of an eigenvector used. Above about 1e-10 the
	// Krylov method reached its iteration bound, which a path of 20,000 nodes does not; the
	// embedding is deterministic in either case.
	Residual float64
}

// Row returns the point of node i. It aliases the embedding.
func (e *Embedding) Row(i int) []float64 {
	return e.Entries[i*e.Dimensions : (i+1)*e.Dimensions]
}

// Embed computes the spectral embedding of the pyramid match kernel: the absolute entries of the
// eigenvectors of the adjacency matrix for the Dimensions largest |eigenvalues|, in descending
// order. Edges are undirected; a pair listed twice or in both directions counts once, isolated
// nodes are included.
//
// Eigenvalues closer than 1e-8 |λ_1| in magnitude are a tie: the positive one comes first. Those of
// one sign share an eigenspace in which no basis is distinguished, so each of its columns, m in
// all, holds sqrt(P_ii / m) with P the projector onto it: the root mean square over any orthonormal
// basis, which is |u_i| for m = 1. If the space is cut off at Dimensions, P is still that of the
// whole. The rule makes the embedding independent of the numbering of nodes. In a component above
// DenseLimit at most maxSparsePairs eigenvectors are computed, and a larger tied space is used as
// far as it was found.
//
// Embed returns an error if the shape is out of range, or an edge joins a node to itself or names a
// node that does not exist.
func Embed(numNodes int, edges []lethe.Edge, c Config) (*Embedding, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("pyramid: %w", err)
	}
	if numNodes < 0 || numNodes > math.MaxInt32 {
		return nil, fmt.Errorf("graph has %d nodes, want 0 to %d", numNodes, math.MaxInt32)
	}
	simple, err := undirected.Simple(numNodes, edges)
	if err != nil {
		return nil, err
	}
	pairs, err := leadingPairs(splitComponents(numNodes, simple), c)
	if err != nil {
		return nil, err
	}
	e := &Embedding{
		NumNodes:   numNodes,
		Dimensions: c.Dimensions,
		Entries:    make([]float64, numNodes*c.Dimensions),
	}
	e.fill(pairs)
	return e, nil
}

// leadingPairs returns the eigenpairs with non-zero eigenvalues, largest
// magnitude first: at least the leading shape.Dimensions and all that tie with
// the last of them, or all there are.
func leadingPairs(components []*component, shape Config) ([]eigenpair, error) {
	var pairs []eigenpair
	for _, c := range components {
		// No component from here on can reach the leading eigenvalues.
		if len(pairs) >= shape.Dimensions && c.bound < tieFloor(pairs, shape.Dimensions) {
			break
		}
		var found []eigenpair
		var err error
		if len(c.nodes) <= shape.DenseLimit {
			found, err = denseEigenpairs(c)
		} else {
			found, err = sparseEigenpairs(c, shape.Dimensions)
		}
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, found...)
		slices.SortStableFunc(pairs, byMagnitude)
		if len(pairs) > shape.Dimensions {
			floor := tieFloor(pairs, shape.Dimensions)
			pairs = slices.DeleteFunc(pairs, func(p eigenpair) bool { return math.Abs(p.value) < floor })
		}
	}
	return pairs, nil
}

// byMagnitude orders eigenpairs by descending |value|.
func byMagnitude(a, b eigenpair) int {
	return cmp.Compare(math.Abs(b.value), math.Abs(a.value))
}

// tieFloor returns the |eigenvalue| below which a pair neither is among the
// first n pairs nor ties with the last of them.
func tieFloor(sorted []eigenpair, n int) float64 {
	return math.Abs(sorted[n-1].value) - float64(tieTolerance*math.Abs(sorted[0].value))
}

// fill writes the columns. Pairs are sorted by magnitude.
func (e *Embedding) fill(pairs []eigenpair) {
	columns := min(e.Dimensions, e.NumNodes)
	projector := make([]float64, e.NumNodes)
	for at := 0; at < len(pairs) && len(e.Values) < columns; {
		end := at + 1
		tie := tieTolerance * math.Abs(pairs[0].value)
		for end < len(pairs) && math.Abs(pairs[end-1].value)-math.Abs(pairs[end].value) <= tie {
			end++
		}
		for _, positive := range []bool{true, false} {
			space := make([]eigenpair, 0, end-at)
			for _, p := range pairs[at:end] {
				if p.value > 0 == positive {
					space = append(space, p)
				}
			}
			if len(space) == 0 || len(e.Values) == columns {
				continue
			}
			clear(projector)
			for _, p := range space {
				addSquares(projector, p)
				e.Residual = max(e.Residual, p.residual/math.Abs(pairs[0].value))
			}
			e.put(projector, space[0].value, len(space), columns)
		}
		at = end
	}
	if len(e.Values) == columns {
		return
	}
	// Fewer non-zero eigenvalues than columns: all their vectors are known, and their complement
	// is the null space.
	nullity := e.NumNodes - len(pairs)
	clear(projector)
	for _, p := range pairs {
		addSquares(projector, p)
	}
	for i, sum := range projector {
		projector[i] = max(0, 1-sum)
	}
	e.put(projector, 0, nullity, columns)
}

// put appends the columns of an eigenspace of dimension m, as many as fit.
func (e *Embedding) put(projector []float64, value float64, m, columns int) {
	from := len(e.Values)
	to := min(columns, from+m)
	for range to - from {
		e.Values = append(e.Values, value)
	}
	for i, p := range projector {
		entry := min(1, math.Sqrt(p/float64(m)))
		row := e.Row(i)
		for c := from; c < to; c++ {
			row[c] = entry
		}
	}
}

func addSquares(projector []float64, p eigenpair) {
	for l, node := range p.nodes {
		projector[node] += float64(p.vector[l] * p.vector[l])
	}
}
