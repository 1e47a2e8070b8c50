package similarity_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/internal/fuzzing"
	"lethe/lab/similarity"
	"lethe/scoring/graphtest"
)

// What is read as a histogram is written as the same bytes, and is like itself.
func FuzzHistogram(f *testing.F) {
	var seeds [][]byte
	for _, h := range []*similarity.Histogram{
		histogram(f, 0, nil), histogram(f, 1, nil), histogram(f, 6, graphtest.Path(6)),
	} {
		seed, err := h.MarshalBinary()
		require.NoError(f, err)
		seeds = append(seeds, seed)
	}
	fuzzing.Framed(f, func(message []byte) ([]byte, error) {
		var h similarity.Histogram
		if err := h.UnmarshalBinary(message); err != nil {
			return nil, err
		}
		alike, err := similarity.Normalised(&h, &h)
		if err != nil || h.NumNodes() > 0 && alike != 1 {
			panic(fmt.Sprintf("a histogram of %d nodes is like itself by %v: %v", h.NumNodes(), alike, err))
		}
		return h.MarshalBinary()
	}, seeds...)
}
