package partition

// level is one graph of a multilevel hierarchy. Its nodes stand for clusters of
// nodes of the level below, its edge weights count the edges between clusters,
// and every node carries how many nodes of each class it stands for. Everything
// lies in compressed rows of 32-bit numbers: at the finest level nothing but
// weights of one is added to the graph.
type level struct {
	// start[i] is where the neighbours of node i begin.
	start      []int
	neighbours []uint32
	// weights follows neighbours; nil says that every edge weighs one.
	weights []uint32
	// The loads of node i are at loadStart[i] up to loadStart[i+1].
	loadStart []uint32
	loadClass []uint8
	loadCount []uint32
}

// finestLevel is the graph itself. It shares the graph's arrays.
func finestLevel(g *Graph) *level {
	l := &level{
		start: g.start, neighbours: g.neighbours,
		loadStart: make([]uint32, g.N()+1), loadClass: g.classes, loadCount: make([]uint32, g.N()),
	}
	for i := range l.loadCount {
		l.loadCount[i] = 1
		l.loadStart[i+1] = uint32(i + 1)
	}
	return l
}

// n returns the number of nodes.
func (l *level) n() int { return len(l.start) - 1 }

// weight returns the weight of the edge at a place in neighbours.
func (l *level) weight(k int) int {
	if l.weights == nil {
		return 1
	}
	return int(l.weights[k])
}

// totalWeight returns the weight of all edges, each counted from both ends.
func (l *level) totalWeight() int {
	if l.weights == nil {
		return len(l.neighbours)
	}
	total := 0
	for _, w := range l.weights {
		total += int(w)
	}
	return total
}

// size returns how many nodes of the graph node i stands for.
func (l *level) size(i int) int {
	total := 0
	for k := l.loadStart[i]; k < l.loadStart[i+1]; k++ {
		total += int(l.loadCount[k])
	}
	return total
}

// contract returns the level whose node c stands for the nodes i of this one
// with cluster[i] = c. Clusters are numbered from 0 without gaps. It costs
// O(nodes + edges).
func (l *level) contract(cluster []uint32, clusters, numClasses int) *level {
	members, memberStart := groupBy(cluster, clusters)
	out := &level{start: make([]int, clusters+1), loadStart: make([]uint32, clusters+1)}
	loads := make([]uint32, numClasses)
	// at[c] is where the row being built holds cluster c, plus one.
	at := make([]int, clusters)
	for c := range clusters {
		begin := len(out.neighbours)
		for _, i := range members[memberStart[c]:memberStart[c+1]] {
			for k := l.loadStart[i]; k < l.loadStart[i+1]; k++ {
				loads[l.loadClass[k]] += l.loadCount[k]
			}
			for k := l.start[i]; k < l.start[i+1]; k++ {
				to := cluster[l.neighbours[k]]
				switch {
				case int(to) == c:
				case at[to] > begin:
					out.weights[at[to]-1] += uint32(l.weight(k))
				default:
					out.neighbours = append(out.neighbours, to)
					out.weights = append(out.weights, uint32(l.weight(k)))
					at[to] = len(out.neighbours)
				}
			}
		}
		out.start[c+1] = len(out.neighbours)
		for class, count := range loads {
			if count > 0 {
				out.loadClass = append(out.loadClass, uint8(class))
				out.loadCount = append(out.loadCount, count)
				loads[class] = 0
			}
		}
		out.loadStart[c+1] = uint32(len(out.loadClass))
	}
	return out
}

// groupBy lists the positions of every group, ascending: group c has those from
// start[c] up to start[c+1].
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
