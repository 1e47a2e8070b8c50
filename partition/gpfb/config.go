package gpfb

// Config holds the weights of GPFB and the end condition of its iteration.
type Config struct {
	// Plain ends as the paper does, by k-means of the embedding (Fast) or with the indicator matrix
	// (SR), without a guarantee of balance.
	Plain bool
	// Alpha weighs balance and fairness against the cut.
	Alpha float64
	// Beta ties the embedding of SR to its assignment.
	Beta float64
	// Sweeps bounds the sweeps.
	Sweeps int
	// Tolerance ends the iteration once a sweep raises the objective by less than this share of the
	// number of shards, times twice the mean degree if Unnormalised.
	Tolerance float64
	// Unnormalised uses W - D, as printed in Algorithm 1, instead of D^-1/2 W D^-1/2. Nodes of high
	// degree then slow the iteration down, because the shift must exceed twice their degree.
	Unnormalised bool
}

// DefaultSweeps is the bound for both methods, as in the published code. More sweeps lead plain
// methods to one giant shard, which the objective favours; under quotas, after a smoothed start,
// they did not lower the cut on Cora, CiteSeer or Bitcoin-OTC.
const DefaultSweeps = 10
