package coarsen

import "lethe/partition/graph"

// Level is one graph of a multilevel hierarchy. Its nodes represent clusters of nodes of the
// level below, its edge weights count the edges between clusters, and every node has the number
// of nodes of each class that it represents. Everything is in compressed rows of 32-bit numbers:
// the finest level adds only weights of one to the graph.
type Level struct {
	// Start[i] is the index of node i's first neighbour.
	Start      []int
	Neighbours []uint32
	// Weights is parallel to Neighbours; nil means that every edge has weight one.
	Weights []uint32
	// The nodes that node i represents, by class, are at LoadStart[i] up to LoadStart[i+1].
	LoadStart []uint32
	LoadClass []uint8
	LoadCount []uint32
}

// Finest returns the graph itself as a level. It shares the graph's arrays.
func Finest(g *graph.Graph) *Level {
	l := &Level{
		LoadStart: make([]uint32, g.N()+1), LoadClass: g.Classes(), LoadCount: make([]uint32, g.N()),
	}
	l.Start, l.Neighbours = g.Rows()
	for i := range l.LoadCount {
		l.LoadCount[i] = 1
		l.LoadStart[i+1] = uint32(i + 1)
	}
	return l
}

// N returns the number of nodes.
func (l *Level) N() int { return len(l.Start) - 1 }

// Weight returns the weight of the edge at an index of Neighbours.
func (l *Level) Weight(k int) int {
	if l.Weights == nil {
		return 1
	}
	return int(l.Weights[k])
}

// TotalWeight returns the weight of all edges, each counted from both ends.
func (l *Level) TotalWeight() int {
	if l.Weights == nil {
		return len(l.Neighbours)
	}
	total := 0
	for _, w := range l.Weights {
		total += int(w)
	}
	return total
}

// Size returns the number of the graph's nodes that node i represents.
func (l *Level) Size(i int) int {
	total := 0
	for k := l.LoadStart[i]; k < l.LoadStart[i+1]; k++ {
		total += int(l.LoadCount[k])
	}
	return total
}

// Contract returns the level whose node c represents the nodes i of this one with cluster[i] = c.
// Clusters are numbered from 0 without gaps. It costs O(nodes + edges).
func (l *Level) Contract(cluster []uint32, clusters, numClasses int) *Level {
	members, memberStart := groupBy(cluster, clusters)
	out := &Level{Start: make([]int, clusters+1), LoadStart: make([]uint32, clusters+1)}
	loads := make([]uint32, numClasses)
	// at[c] is the index of cluster c in the row under construction, plus one.
	at := make([]int, clusters)
	for c := range clusters {
		begin := len(out.Neighbours)
		for _, i := range members[memberStart[c]:memberStart[c+1]] {
			for k := l.LoadStart[i]; k < l.LoadStart[i+1]; k++ {
				loads[l.LoadClass[k]] += l.LoadCount[k]
			}
			for k := l.Start[i]; k < l.Start[i+1]; k++ {
				to := cluster[l.Neighbours[k]]
				switch {
				case int(to) == c:
				case at[to] > begin:
					out.Weights[at[to]-1] += uint32(l.Weight(k))
				default:
					out.Neighbours = append(out.Neighbours, to)
					out.Weights = append(out.Weights, uint32(l.Weight(k)))
					at[to] = len(out.Neighbours)
				}
			}
		}
		out.Start[c+1] = len(out.Neighbours)
		for class, count := range loads {
			if count > 0 {
				out.LoadClass = append(out.LoadClass, uint8(class))
				out.LoadCount = append(out.LoadCount, count)
				loads[class] = 0
			}
		}
		out.LoadStart[c+1] = uint32(len(out.LoadClass))
	}
	return out
}

// groupBy lists the positions of every group, ascending: those of group c are from start[c] up to
// start[c+1].
func groupBy(group []uint32, groups int) (positions, start []uint32) {
	start = make([]uint32, groups+1)
	for _, c := range group {
		start[c+1]++
	}
	for c := range groups {
		start[c+1] += start[c]
	}
	next := append([]uint32(nil), start[:groups]...)
	positions = make([]uint32, len(group))
	for i, c := range group {
		positions[next[c]] = uint32(i)
		next[c]++
	}
	return positions, start
}
