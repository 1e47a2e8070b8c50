package gomath_test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/cpu"

	"lethe"
	"lethe/internal/portable/gomath"
)

// The functions are those of package math on amd64, bit by bit, where random numbers
// and the generator use them and far beyond.
func TestBitsAreThoseOfAMD64(t *testing.T) {
	if runtime.GOARCH != "amd64" || !cpu.X86.HasFMA {
		t.Skip("package math has other last bits on this processor")
	}
	count := 2_000_000
	if testing.Short() {
		count = 300_000
	}
	d := lethe.NewDraw(1, "gomath")
	for range count {
		// u is what random numbers take the logarithm of.
		u, scale := 1-d.Float64(), math.Ldexp(1, d.IntN(40)-20)
		same(t, "Log", math.Log, gomath.Log, u)
		same(t, "Log", math.Log, gomath.Log, math.Float64frombits(1<<52+d.Uint64()%(0x7fe<<52)))
		for _, x := range []float64{2 * math.Pi * u, u * scale, -u * scale} {
			same(t, "Cos", math.Cos, gomath.Cos, x)
			same(t, "Sin", math.Sin, gomath.Sin, x)
		}
		for _, x := range []float64{-u, u * scale, -u * scale, 1500 * (u - 0.5)} {
			same(t, "Exp", math.Exp, gomath.Exp, x)
		}
	}
	for _, x := range []float64{0, math.Copysign(0, -1), math.Sqrt2 / 2, 1, 0x1p-1022, math.MaxFloat64, 1 << 28} {
		if x > 0 {
			same(t, "Log", math.Log, gomath.Log, x)
		}
		if x < 1<<29 {
			same(t, "Cos", math.Cos, gomath.Cos, x)
			same(t, "Sin", math.Sin, gomath.Sin, x)
		}
		same(t, "Exp", math.Exp, gomath.Exp, x)
		same(t, "Exp", math.Exp, gomath.Exp, -x)
	}
	same(t, "Exp", math.Exp, gomath.Exp, math.Inf(1))
	same(t, "Exp", math.Exp, gomath.Exp, math.Inf(-1))
}

func same(t *testing.T, name string, want, got func(float64) float64, x float64) {
	if w, g := want(x), got(x); math.Float64bits(w) != math.Float64bits(g) {
		t.Fatalf("%s(%x) is %x, want %x", name, x, g, w)
	}
}

// What amd64 gives is what every processor gives.
func TestBitsAreTheSameEverywhere(t *testing.T) {
	functions := map[string]func(d *lethe.Draw) float64{
		"log": func(d *lethe.Draw) float64 { return gomath.Log(1 - d.Float64()) },
		"exp": func(d *lethe.Draw) float64 { return gomath.Exp(1500 * (d.Float64() - 0.5)) },
		"cos": func(d *lethe.Draw) float64 { return gomath.Cos(100 * (d.Float64() - 0.5)) },
		"sin": func(d *lethe.Draw) float64 { return gomath.Sin(100 * (d.Float64() - 0.5)) },
	}
	datadriven.RunTest(t, "testdata/digests", func(_ *testing.T, c *datadriven.TestData) string {
		d, hash := lethe.NewDraw(1, c.Cmd), sha256.New()
		for range 200_000 {
			hash.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(functions[c.Cmd](d))))
		}
		return fmt.Sprintf("%x\n", hash.Sum(nil))
	})
}

func TestEdges(t *testing.T) {
	require.Equal(t, math.Inf(-1), gomath.Log(0))
	require.Equal(t, math.Inf(1), gomath.Log(math.Inf(1)))
	require.InEpsilon(t, -1074*math.Ln2, gomath.Log(0x1p-1074), 1e-15)
	require.True(t, math.IsNaN(gomath.Log(-1)))
	require.True(t, math.IsNaN(gomath.Log(math.NaN())))
	require.True(t, math.IsNaN(gomath.Exp(math.NaN())))
	for _, x := range []float64{1 << 29, math.NaN(), math.Inf(1)} {
		require.Panics(t, func() { gomath.Cos(x) }, "%v", x)
		require.Panics(t, func() { gomath.Sin(x) }, "%v", x)
	}
}
