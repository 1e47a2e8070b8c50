package trees

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/trainer/tabular"
)

func TestBinsKeepOrderAndShareRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "rows")
		zeros := rapid.IntRange(0, n).Draw(t, "zeros")
		r := tabular.Rows{Cols: 1, Labels: make([]int32, n), Features: make([]float32, n)}
		for i := zeros; i < n; i++ {
			r.Features[i] = rapid.Float32Range(-1, 1).Draw(t, "value")
			if rapid.IntRange(0, 9).Draw(t, "gap") == 0 {
				r.Features[i] = float32(math.NaN())
			}
		}
		most := rapid.IntRange(2, maxBins).Draw(t, "bins")
		b := newBinned(r, most)
		require.LessOrEqual(t, b.count(0), most)
		column := b.column(0)
		for i, v := range r.Features {
			at := int(column[i])
			if v != v {
				require.True(t, b.missing[0])
				require.Equal(t, b.count(0)-1, at)
				continue
			}
			require.True(t, at == 0 || v > b.thresholds[0][at-1])
			require.True(t, at == len(b.thresholds[0]) || v <= b.thresholds[0][at])
		}
	})
}

// A value that most rows have must not use up the bins of the others.
func TestFrequentValueLeavesBinsToOthers(t *testing.T) {
	r := tabular.Rows{Cols: 1, Labels: make([]int32, 1000), Features: make([]float32, 1000)}
	for i := range 100 {
		r.Features[i] = float32(i + 1)
	}
	counts := make([]int, 11)
	for _, bin := range newBinned(r, 11).column(0) {
		counts[bin]++
	}
	require.Equal(t, []int{900, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10}, counts)
}

// The sort by bits agrees with the library's, for few and for many values.
func TestSorterSorts(t *testing.T) {
	for _, n := range []int{0, 1, fewValues - 1, 5 * fewValues} {
		d := lethe.NewDraw(uint64(n), "sorter")
		values := make([]float32, n)
		for i := range values {
			values[i] = float32(d.Normal()) * float32(d.IntN(3)-1)
		}
		want := slices.Sorted(slices.Values(values))
		require.Equal(t, len(want), len(newSorter(n).sort(values)))
		for i, v := range newSorter(n).sort(values) {
			require.True(t, v == want[i], "%d of %d", i, n) // both zeros are one
		}
	}
}

// Between neighbouring numbers there is no third, so the bound is the lower one, which
// belongs to the bin below it.
func TestNeighbouringNumbersAreToldApart(t *testing.T) {
	low := float32(1)
	high := math.Nextafter32(low, 2)
	b := newBinned(tabular.Rows{Cols: 1, Features: []float32{high, low}, Labels: []int32{0, 1}}, 2)
	require.Equal(t, []float32{low}, b.thresholds[0])
	require.Equal(t, []uint8{1, 0}, b.column(0))
}

// However many rows there are and whatever they weigh, the sum of their second
// derivatives does not spill into their count.
func TestScaleLeavesRoomForTheCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.IntRange(1, math.MaxInt32).Draw(t, "rows")
		most := rapid.Float64Range(1, tabular.MaxTotalWeight).Draw(t, "most")
		s := newScale(rows, most, 0)
		all := cell{packed: uint64(rows)<<s.shift + uint64(most*s.unit)}
		require.Equal(t, rows, s.count(all))
		require.InDelta(t, most, float64(s.weigh(all))/s.unit, 1/s.unit)
		require.Greater(t, s.unit, most/float64(uint64(1)<<s.shift))
	})
}
