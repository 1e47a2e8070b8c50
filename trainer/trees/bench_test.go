package trees

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/trainer/tabular"
)

// benchmarkRows are shaped like what a shard of Bitcoin-OTC knows late in the
// stream: 500 rows, 119 features, of which some have few values.
func benchmarkRows() tabular.Rows {
	const n, cols = 500, 119
	r := tabular.Rows{Cols: cols, Features: make([]float32, 0, n*cols)}
	d := lethe.NewDraw(1, "benchmark rows")
	for range n {
		label, shift := int32(0), float32(0)
		if d.IntN(8) == 0 {
			label, shift = 1, 0.5
		}
		r.Labels = append(r.Labels, label)
		for f := range cols {
			v := d.Float32() + d.Float32()
			if f < 20 {
				v += shift
			}
			if f%4 == 3 {
				v = float32(int(5 * v))
			}
			r.Features = append(r.Features, v)
		}
	}
	return r
}

// The first are the defaults of this package, the others those of package
// trainer.
func BenchmarkFit(b *testing.B) {
	r := benchmarkRows()
	for _, o := range []Config{Defaults(), with(func(c *Config) { c.Rounds, c.MaxLeaves, c.FeatureShare = 200, 4, 0.2 })} {
		b.Run(fmt.Sprintf("rounds=%d,leaves=%d,share=%g", o.Rounds, o.MaxLeaves, o.FeatureShare), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _, err := Fit(b.Context(), r, o)
				require.NoError(b, err)
			}
		})
	}
}
