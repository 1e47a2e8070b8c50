package loops

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// All loops find the same positions, in whatever room the result has, from no
// hit to nothing but hits.
func TestDrawsFindTheSamePositions(t *testing.T) {
	for name, l := range others() {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				keys := rapid.SliceOfN(rapid.Uint64(), 0, 150).Draw(rt, "keys")
				key := rapid.Uint64().Draw(rt, "key")
				some := rapid.SampledFrom([]uint64{0, 1 << 27, 1 << 31, 1 << 32})
				limit := rapid.OneOf(rapid.Uint64Range(0, 1<<32), some).Draw(rt, "limit")
				before := rapid.SliceOfN(rapid.Uint32(), 0, 3).Draw(rt, "before")
				want := append([]uint32{}, before...)
				for j, other := range keys {
					if Mix(key^other)>>32 < limit {
						want = append(want, uint32(j))
					}
				}
				got := l.Draws.Below(append([]uint32{}, before...), keys, key, limit)
				require.Equal(rt, want, got)
			})
		})
	}
}

func BenchmarkDraws(b *testing.B) {
	keys := make([]uint64, 2708)
	for i := range keys {
		keys[i] = Mix(uint64(i))
	}
	for name, l := range others() {
		b.Run(name, func(b *testing.B) {
			var into []uint32
			b.SetBytes(int64(8 * len(keys)))
			for i := range b.N {
				into = l.Draws.Below(into[:0], keys, uint64(i), 1<<22)
			}
		})
	}
}

// All loops draw the same masks and write nothing behind them.
func TestDrawsMakeTheSameMasks(t *testing.T) {
	for name, l := range others() {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				n, key := rapid.IntRange(0, 150).Draw(rt, "n"), rapid.Uint64().Draw(rt, "key")
				some := rapid.SampledFrom([]uint64{0, 1 << 31, 1<<32 - 1, 1 << 32})
				limit := rapid.OneOf(rapid.Uint64Range(0, 1<<32), some).Draw(rt, "limit")
				got, all := guarded(1, n, 20)
				l.Draws.Mask(got.Data, key, limit, 1.25)
				for c, v := range got.Data {
					want := float32(1.25)
					if ColumnDraw(key, c) < limit {
						want = 0
					}
					require.Equal(rt, want, v, "column %d", c)
				}
				checkGuard(rt, all, 20)

				values, columns := randomMatrix(1, n, 3).Data, make([]uint32, n)
				for k := range columns {
					columns[k] = uint32(Mix(key+uint64(k)) >> 48)
				}
				got, all = guarded(1, n, 20)
				l.Draws.MaskColumns(got.Data, values, columns, key, limit, 1.25)
				for k, v := range got.Data {
					want := values[k] * 1.25
					if ColumnDraw(key, int(columns[k])) < limit {
						want = 0
					}
					require.Equal(rt, want, v, "value %d of column %d", k, columns[k])
				}
				checkGuard(rt, all, 20)
			})
		})
	}
}
