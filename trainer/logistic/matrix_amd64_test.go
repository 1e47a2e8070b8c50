package logistic

import "golang.org/x/sys/cpu"

// assembled lists the loops in assembly that this processor has.
func assembled() (out []loops) {
	if cpu.X86.HasAVX2 {
		out = append(out, loops{
			"AVX2", func(scores, weights []float64, rows []float32) {
				scoreRowsAVX2(&scores[0], &weights[0], &rows[0], len(weights))
			}, func(slopes, steps []float64, rows []float32) {
				addRowsAVX2(&slopes[0], &steps[0], &rows[0], len(slopes))
			},
		})
	}
	return out
}
