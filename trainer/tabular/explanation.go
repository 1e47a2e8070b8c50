package tabular

// Explanation splits the scores of a row into what each feature adds. An output is a
// score of the model: one for two classes, that of class 1, else one per class.
type Explanation struct {
	// Scores are what the model says of the row.
	Scores []float64
	// Expected are the scores that the terms start from.
	Expected []float64
	// Terms is outputs × features: what each feature of the row moves the score by. They
	// and Expected add up to Scores within rounding.
	Terms []float64
}
