//go:build !amd64

package logistic

func scoreRows(scores, weights []float64, rows []float32) { scoreRowsPlain(scores, weights, rows) }

func addRows(slopes, steps []float64, rows []float32) { addRowsPlain(slopes, steps, rows) }
