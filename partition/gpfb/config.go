package gpfb

// Config has the weights of GPFB and the end of its iteration.
type Config struct {
	// Plain ends as the paper does, by k-means of the embedding (Fast) or with the
	// indicator matrix (SR), without a promise of balance.
	Plain bool
	// Alpha weighs balance and fairness against the cut.
	Alpha float64
	// Beta ties the embedding of SR to its assignment.
	Beta float64
	// Sweeps bounds the sweeps.
	Sweeps int
	// Tolerance ends the iteration once a sweep raises the objective by less than
	// this share of the number of shards, times twice the mean degree if
	// unnormalised.
	Tolerance float64
	// Unnormalised takes W - D, as Algorithm 1 prints, in place of
	// D^-1/2 W D^-1/2. A node of high degree then slows the iteration down, since
	// the shift has to exceed twice its degree.
	Unnormalised bool
}

// DefaultSweeps is the bound for both methods, as in the published code. Plain
// ones with more lead to one giant shard, which the objective likes; under quotas,
// after a smoothed start, more did not lower the cut on Cora, CiteSeer or
// Bitcoin-OTC.
const DefaultSweeps = 10
