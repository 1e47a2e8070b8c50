package calibrate

import "lethe/scoring/internal/regression"

// flattestSlope is the least slope of a calibration. Where logits say the opposite
// of the truth, or nothing, the best slope is 0 or less; it would turn the ranking
// round, or leave none.
const flattestSlope = 0.01

// fitPlatt returns slope and intercept with the least log-loss on the rows, which
// come in a fixed order. As Platt has it, targets are not 0 and 1 but
// 1/(N₋+2) and (N₊+1)/(N₊+2), what a uniform prior leaves of certainty, so that
// classes that a threshold parts have a minimum, too. The function is convex,
// whence the bound on the slope is met by its best value (Lin, Lin and Weng, "A Note
// on Platt's Probabilistic Outputs", 2007, solve it by Newton's method as well).
func fitPlatt(rows []row, illicit int) (slope, intercept float64) {
	high := float64(illicit+1) / float64(illicit+2)
	low := 1 / float64(len(rows)-illicit+2)
	inputs, targets := make([]float64, len(rows)), make([]float64, len(rows))
	for i, r := range rows {
		inputs[i], targets[i] = r.logit, low
		if r.illicit {
			targets[i] = high
		}
	}
	coefficients, intercept := regression.Minimise(regression.Problem{
		Inputs: inputs, Targets: targets, Centre: []float64{1}, Lowest: []float64{flattestSlope},
	})
	return coefficients[0], intercept
}
