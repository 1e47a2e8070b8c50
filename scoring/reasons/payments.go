package reasons

// along distributes the contributions of the rows of a graph over the payments of one row: it
// returns one number per neighbour, in their order. A row that is further away counts for the
// neighbours at the start of the shortest paths to it, for each by its share of those paths. All
// rows with a contribution must be reachable.
func along(neighbours [][]uint32, row int, adds []float64) []float64 {
	distance, ways := make([]int, len(neighbours)), make([]float64, len(neighbours))
	order := []uint32{uint32(row)}
	ways[row] = 1
	for at := 0; at < len(order); at++ {
		i := order[at]
		for _, j := range neighbours[i] {
			if ways[j] == 0 {
				distance[j] = distance[i] + 1
				order = append(order, j)
			}
			if distance[j] == distance[i]+1 {
				ways[j] += ways[i]
			}
		}
	}
	credit := make([]float64, len(neighbours))
	copy(credit, adds)
	for at := len(order) - 1; at >= 0; at-- {
		j := order[at]
		if distance[j] < 2 {
			continue
		}
		for _, i := range neighbours[j] {
			if distance[i] == distance[j]-1 {
				credit[i] += float64(credit[j] * (ways[i] / ways[j]))
			}
		}
	}
	out := make([]float64, len(neighbours[row]))
	for k, j := range neighbours[row] {
		out[k] = credit[j]
	}
	return out
}
