package gpfbsr

import "lethe/partition/gpfb"

// Config holds the weights of GPFB and how it begins and ends. Its tolerance is also times twice the mean
// degree if Unnormalised.
type Config struct {
	gpfb.Config
	// Plain begins with raw draws and ends as the paper does, by k-means of the embedding (Fast) or with the
	// indicator matrix (SR), without a guarantee of balance.
	Plain bool
	// Beta ties the embedding of SR to its assignment.
	Beta float64
	// Unnormalised uses W - D, as printed in Algorithm 1, instead of D^-1/2 W D^-1/2. Nodes of high degree
	// then slow the iteration down, because the shift must exceed twice their degree.
	Unnormalised bool
}
