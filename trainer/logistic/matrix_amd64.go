package logistic

import "golang.org/x/sys/cpu"

// scoreRows is scoreRowsPlain.
func scoreRows(scores, weights []float64, rows []float32) {
	scores, rows = scores[:band], rows[:band*len(weights)]
	switch {
	case cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ:
		scoreRowsAVX512(&scores[0], &weights[0], &rows[0], len(weights))
	case cpu.X86.HasAVX2:
		scoreRowsAVX2(&scores[0], &weights[0], &rows[0], len(weights))
	default:
		scoreRowsPlain(scores, weights, rows)
	}
}

// addRows is addRowsPlain.
func addRows(slopes, steps []float64, rows []float32) {
	steps, rows = steps[:band], rows[:band*len(slopes)]
	switch {
	case cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ:
		addRowsAVX512(&slopes[0], &steps[0], &rows[0], len(slopes))
	case cpu.X86.HasAVX2:
		addRowsAVX2(&slopes[0], &steps[0], &rows[0], len(slopes))
	default:
		addRowsPlain(slopes, steps, rows)
	}
}

//go:noescape
func scoreRowsAVX2(scores, weights *float64, rows *float32, stride int)

//go:noescape
func addRowsAVX2(slopes, steps *float64, rows *float32, stride int)

//go:noescape
func scoreRowsAVX512(scores, weights *float64, rows *float32, stride int)

//go:noescape
func addRowsAVX512(slopes, steps *float64, rows *float32, stride int)
