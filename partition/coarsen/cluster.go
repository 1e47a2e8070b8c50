package coarsen

import "lethe"

// clusterRounds bounds the rounds of label propagation per level. Clusters hardly change after
// the third round.
const clusterRounds = 3

// Cluster groups the nodes of a level by label propagation with bounded sizes (Meyerhenke,
// Sanders and Schulz, "Partitioning Complex Networks via Size-Constrained Clustering", SEA 2014):
// in turn, every node joins the cluster to which it has the most edge weight, if that stays
// within maxSize nodes of the graph. Ties are broken by a draw. It returns the cluster of every
// node, numbered in the order of their first nodes, and the number of clusters.
func (l *Level) Cluster(maxSize int, draw *lethe.Draw) (cluster []uint32, clusters int) {
	p := newPropagation(l, maxSize, draw)
	for range clusterRounds {
		if moved := p.round(); moved*100 < l.N() {
			break
		}
	}
	return p.cluster, renumber(p.cluster)
}

type propagation struct {
	*Level
	maxSize int
	draw    *lethe.Draw
	cluster []uint32
	// size is the number of the graph's nodes per cluster.
	size []uint32
	// pull is the edge weight from the current node to each cluster.
	pull tally
}

// newPropagation starts with a cluster per node.
func newPropagation(l *Level, maxSize int, draw *lethe.Draw) *propagation {
	p := &propagation{
		Level: l, maxSize: maxSize, draw: draw,
		cluster: make([]uint32, l.N()), size: make([]uint32, l.N()),
	}
	for i := range p.cluster {
		p.cluster[i] = uint32(i)
		p.size[i] = uint32(l.Size(i))
	}
	return p
}

// round visits every node and returns how many changed their cluster.
func (p *propagation) round() int {
	moved := 0
	for i := range p.cluster {
		if p.Start[i] == p.Start[i+1] {
			continue
		}
		p.pull.reset(p.Start[i+1] - p.Start[i])
		for k := p.Start[i]; k < p.Start[i+1]; k++ {
			p.pull.add(p.cluster[p.Neighbours[k]], uint32(p.Weight(k)))
		}
		from, size := p.cluster[i], uint32(p.Size(i))
		if to := p.strongest(from, size); to != from {
			p.size[from] -= size
			p.size[to] += size
			p.cluster[i] = to
			moved++
		}
	}
	return moved
}

// strongest returns the cluster with the largest pull on a node of cluster from, among those with
// room for its size. The node stays if no other cluster pulls harder; a single node joins the
// first that pulls.
func (p *propagation) strongest(from, size uint32) uint32 {
	best, most, ties := from, p.pull.of(from), uint64(0)
	for _, at := range p.pull.used {
		c, sum := p.pull.keys[at], p.pull.sums[at]
		if c == from || sum < most || int(p.size[c]+size) > p.maxSize {
			continue
		}
		if sum > most {
			best, most, ties = c, sum, 1
			continue
		}
		if ties == 0 {
			continue // equal to the pull of its own cluster
		}
		if ties++; p.draw.Uint64()%ties == 0 {
			best = c
		}
	}
	return best
}

// renumber replaces the values by numbers from 0 in the order of their first appearance, in
// place, and returns how many there are. Values are below the length.
func renumber(values []uint32) int {
	number := make([]uint32, len(values))
	count := uint32(0)
	for i, value := range values {
		if number[value] == 0 {
			count++
			number[value] = count
		}
		values[i] = number[value] - 1
	}
	return int(count)
}
