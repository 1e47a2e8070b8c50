package gpfb

import "lethe/partition/graph"

// Config holds the weight of GPFB and the end condition of its iteration.
type Config struct {
	// Alpha weighs balance and fairness against the cut, see AlphaFor.
	Alpha float64
	// MaxShift bounds alpha's part of the iteration's shift.
	MaxShift float64
	// Sweeps bounds the sweeps.
	Sweeps int
	// Tolerance ends the iteration once a sweep raises the objective by less than this share of the
	// number of shards.
	Tolerance float64
}

// AlphaFor returns the alpha that is used for a graph: at most MaxShift over the nodes of the largest class.
func (c Config) AlphaFor(g *graph.Graph) float64 {
	return min(c.Alpha, c.MaxShift/float64(max(1, g.LargestClass())))
}

// DefaultSweeps is the bound on sweeps, as in the published code. After a smoothed start under quotas more of
// them did not lower the cut on Cora, CiteSeer or Bitcoin-OTC.
const DefaultSweeps = 10
