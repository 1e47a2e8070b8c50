package logistic

const (
	// group is the number of columns that loops process at once.
	group = 8
	// band is the number of rows scored before their residuals are computed, so that they stay in
	// the first-level cache. Loops process four of them at once.
	band = 64
)

// matrix holds rows padded to a multiple of group values, and a number of rows padded to a
// multiple of band. Padding is 0.
type matrix struct {
	stride int
	values []float32
}

func newMatrix(rows, cols int) matrix {
	m := matrix{stride: (cols + group - 1) / group * group}
	m.values = make([]float32, (rows+band-1)/band*band*m.stride)
	return m
}

func (m matrix) row(i int) []float32 { return m.values[i*m.stride : (i+1)*m.stride] }

// band returns the band of rows starting at from.
func (m matrix) band(from int) []float32 { return m.values[from*m.stride : (from+band)*m.stride] }

// scoreRowsPlain stores the scores of a band: sums of weights times values, separately for every eighth column,
// then added pairwise by halves. The loops for AVX2 and AVX-512 compute the same bits.
func scoreRowsPlain(scores, weights []float64, rows []float32) {
	for i := range scores {
		var s [group]float64
		row := rows[i*len(weights) : (i+1)*len(weights)]
		for f := 0; f < len(weights); f += group {
			for k, w := range weights[f : f+group] {
				s[k] += float64(w * float64(row[f+k]))
			}
		}
		scores[i] = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
	}
}

// addRowsPlain adds every row of a band, times its step, to the slopes in sequence.
func addRowsPlain(slopes, steps []float64, rows []float32) {
	for i, step := range steps {
		for f, v := range rows[i*len(slopes) : (i+1)*len(slopes)] {
			slopes[f] += float64(step * float64(v))
		}
	}
}
