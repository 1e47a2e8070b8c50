package calibrate

import "lethe/scoring/internal/regression"

// flattestSlope is the minimum slope of a calibration. If logits are uninformative or inverted, the
// best slope is 0 or less; it would remove or reverse the ranking.
const flattestSlope = 0.01

// fitPlatt returns slope and intercept with the least log-loss on the rows, which have a fixed
// order. Following Platt, targets are not 0 and 1 but 1/(N₋+2) and (N₊+1)/(N₊+2), the posterior
// under a uniform prior, so that separable classes have a minimum, too. The function is convex, so
// the constrained minimum is at the bound if the free one is below it (Lin, Lin and Weng, "A Note
// on Platt's Probabilistic Outputs", 2007, also use Newton's method).
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
