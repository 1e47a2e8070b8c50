package tabular

// Explanation splits the scores of a row into contributions of its features. An output is a score
// of the model: for two classes only that of class 1, else one per class.
type Explanation struct {
	// Scores are the model's scores of the row.
	Scores []float64
	// Expected are the scores that the terms start from.
	Expected []float64
	// Terms is outputs × features: the contribution of each feature of the row. They and Expected
	// add up to Scores within rounding.
	Terms []float64
}
