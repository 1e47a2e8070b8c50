package attack

import (
	"fmt"

	"lethe"
	"lethe/lab/attack/roc"
)

// residue scores every transaction that is left by how many more neighbours,
// stubs included, it has in its slice than in the graph that is left. Positives
// are the former neighbours of the members; each counts once.
func residue(sc *scenario, secret lethe.Secret, slices []*lethe.Slice) ([]roc.Sample, error) {
	var out []roc.Sample
	inSlice, err := sliceDegrees(slices)
	if err != nil {
		return nil, err
	}
	sent := without(sc.stream, sc.outside)
	left := graphs(secret, without(sc.stream, sc.gone), nil)
	for i, full := range graphs(secret, sent, nil) {
		former := make(map[lethe.Pseudonym]bool)
		for _, e := range full.Undirected() {
			for _, end := range [][2]uint32{{e.A, e.B}, {e.B, e.A}} {
				if sc.gone[full.Nodes[end[0]].ID] {
					former[full.Nodes[end[1]].Pseudonym] = true
				}
			}
		}
		degree := make([]int, len(left[i].Nodes))
		for _, e := range left[i].Undirected() {
			degree[e.A]++
			degree[e.B]++
		}
		for node, n := range left[i].Nodes {
			d, found := inSlice[n.Pseudonym]
			if !found {
				return nil, fmt.Errorf("timestep %d: node %d is in no slice", left[i].Timestep, node)
			}
			out = append(out, roc.Sample{Score: float64(d - degree[node]), Positive: former[n.Pseudonym], Cluster: len(out)})
		}
	}
	return out, nil
}

// sliceDegrees counts every node's kept edges and stubs.
func sliceDegrees(slices []*lethe.Slice) (map[lethe.Pseudonym]int, error) {
	out := make(map[lethe.Pseudonym]int)
	for _, s := range slices {
		for _, n := range s.Nodes {
			if _, twice := out[n]; twice {
				return nil, fmt.Errorf("timestep %d shard %d: a node is in two slices", s.Timestep, s.Shard)
			}
			out[n] = 0
		}
		for _, e := range s.Edges {
			out[s.Nodes[e.A]]++
			out[s.Nodes[e.B]]++
		}
		for _, stub := range s.Stubs {
			out[s.Nodes[stub.Owner]]++
		}
	}
	return out, nil
}
