package trainer

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/canonical"
	"lethe/trainer/kernels"
	"lethe/trainer/models"
)

// smallCheckpoint is a trained one of few bytes.
func smallCheckpoint(t testing.TB) *Checkpoint {
	t.Helper()
	e := newEngine(t, with(models.EllipticGIN, func(c *Config) { c.Widths = []int{2, 2, 1, 1} }), kernels.Portable())
	c, _, err := e.Train(context.Background(), 3, nil, makeWindow(3, 1, 9, 2))
	require.NoError(t, err)
	return c
}

func TestCheckpointRoundTrip(t *testing.T) {
	c := smallCheckpoint(t)
	require.Equal(t, canonical.DigestOf(EncodeCheckpoint(c)), DigestCheckpoint(c))
	got, err := DecodeCheckpoint(EncodeCheckpoint(c))
	require.NoError(t, err)
	require.Equal(t, c, got)
}

func TestEveryTruncationAndFlipIsRefused(t *testing.T) {
	message := EncodeCheckpoint(smallCheckpoint(t))
	for n := range message {
		_, err := DecodeCheckpoint(message[:n])
		require.ErrorIs(t, err, canonical.ErrCorrupt, "cut to %d bytes", n)
		flipped := append([]byte(nil), message...)
		flipped[n] ^= 0x10
		_, err = DecodeCheckpoint(flipped)
		require.ErrorIs(t, err, canonical.ErrCorrupt, "byte %d flipped", n)
	}
	_, err := DecodeCheckpoint(canonical.NewWriter(checkpointMagic, checkpointVersion+1).Seal())
	require.ErrorIs(t, err, canonical.ErrVersion)
}

// A right checksum over wrong content must neither pass nor ask for memory that
// the message does not have.
func TestSealedNonsenseIsRefused(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := smallCheckpoint(t)
		c.Architecture.Features = rapid.SampledFrom([]int{0, 1, 3, models.MaxWidth, models.MaxWidth + 1, 1 << 31}).Draw(rt,
			"features")
		c.Architecture.Widths = rapid.SampledFrom([][]int{{2, 2, 1, 1}, {}, {2, 2, 1},
			{models.MaxWidth, models.MaxWidth, models.MaxWidth, models.MaxWidth}, {0, 2, 1, 1}}).Draw(rt, "widths")
		_, err := DecodeCheckpoint(EncodeCheckpoint(c))
		require.ErrorIs(rt, err, canonical.ErrCorrupt)
	})
	rapid.Check(t, func(rt *rapid.T) {
		w := canonical.NewWriter(checkpointMagic, checkpointVersion)
		w.Bytes(rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(rt, "body"))
		_, err := DecodeCheckpoint(w.Seal())
		require.ErrorIs(rt, err, canonical.ErrCorrupt)
	})
}

func TestParameterByName(t *testing.T) {
	c := smallCheckpoint(t)
	values, shape, err := c.Parameter("conv1.nn.0.weight")
	require.NoError(t, err)
	require.Equal(t, []int{2, 2}, shape)
	p := c.Params[1:5] // conv1.eps comes first
	require.Equal(t, []float32{p[0], p[2], p[1], p[3]}, values, "transposed")
	_, _, err = c.Parameter("conv9.eps")
	require.ErrorContains(t, err, "conv9.eps")
}

func TestForeignCheckpointsAreRefused(t *testing.T) {
	opts := with(models.EllipticGIN, func(c *Config) { c.Hidden = 8 })
	e := newEngine(t, opts, kernels.Portable())
	window := makeWindow(1, 2, 12, 5)
	c, _, err := e.Train(context.Background(), 1, nil, window[:1])
	require.NoError(t, err)
	require.NoError(t, e.Compatible(c))
	for name, change := range map[string]func(c *Checkpoint){
		"options":  func(c *Checkpoint) { c.Options[0]++ },
		"kernels":  func(c *Checkpoint) { c.Kernels = "other" },
		"widths":   func(c *Checkpoint) { c.Architecture.Widths[0]++ },
		"skip":     func(c *Checkpoint) { c.Architecture.LinearSkip = false },
		"params":   func(c *Checkpoint) { c.Params = c.Params[1:] },
		"shard":    func(c *Checkpoint) { c.Shard++ },
		"timestep": func(c *Checkpoint) { c.Timestep = 2 },
		"features": func(c *Checkpoint) { *c = *e.fresh(1, 6) },
	} {
		other := c.clone()
		change(other)
		_, _, err := e.Train(context.Background(), 1, other, window)
		require.ErrorIs(t, err, ErrIncompatible, name)
	}
	untouched := digestOf(c)
	_, _, err = e.Train(context.Background(), 1, c, window)
	require.NoError(t, err)
	require.Equal(t, untouched, digestOf(c), "Train must not change its argument")
}

func TestInitialWeightsDependOnSeedAndShardOnly(t *testing.T) {
	e := newEngine(t, with(models.EllipticGIN, func(c *Config) { c.Hidden = 8 }), kernels.Portable())
	other := newEngine(t, with(models.EllipticGIN, func(c *Config) { c.Hidden, c.Seed = 8, 1 }), kernels.Portable())
	require.Equal(t, e.fresh(1, 5), e.fresh(1, 5))
	require.NotEqual(t, e.fresh(1, 5).Params, e.fresh(2, 5).Params)
	require.NotEqual(t, e.fresh(1, 5).Params, other.fresh(1, 5).Params)

	parameters, _ := e.idle.networks.Tensors(e.config.Architecture(5))
	fresh := parameters.Fresh(0, 1)
	for name, want := range map[string]float32{"conv1.eps": 0, "batchnorm2.weight": 1, "batchnorm2.bias": 0} {
		values, _, err := fresh.Named(name)
		require.NoError(t, err)
		for _, v := range values {
			require.Equal(t, want, v, name)
		}
	}
	for name, fanIn := range map[string]int{"conv1.nn.0.weight": 5, "conv1.nn.0.bias": 5, "conv2.nn.2.weight": 8,
		"skip.bias": 5} {
		values, _, err := fresh.Named(name)
		require.NoError(t, err)
		largest := 0.0
		for _, v := range values {
			largest = max(largest, math.Abs(float64(v)))
		}
		require.LessOrEqual(t, largest*largest*float64(fanIn), 1.0, name)
		require.Positive(t, largest, name)
	}
}

func TestErrorsNameCoordinatesOnly(t *testing.T) {
	e := newEngine(t, with(models.EllipticGIN, func(c *Config) { c.Hidden = 8 }), kernels.Portable())
	broken := makeSlice(sliceSpec{timestep: 7, shard: 3, nodes: 12, features: 5})
	broken.Features[8] = float32(math.Inf(1))
	_, _, err := e.Train(context.Background(), 3, nil, []*lethe.Slice{broken})
	require.ErrorIs(t, err, ErrNotFinite)
	require.ErrorContains(t, err, "shard 3 timestep 7 pass 0")
}
