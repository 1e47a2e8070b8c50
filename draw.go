package lethe

import (
	"encoding/binary"
	"math"

	"lethe/internal/portable/gomath"
)

// Draw is a keyed source of random numbers: a pure function of a seed, a
// purpose and coordinates, so that no two things share a sequential stream and
// removing one node changes no other node's draws.
//
// It is a SplitMix64 sequence (Steele, Lea and Flood, "Fast Splittable
// Pseudorandom Number Generators", OOPSLA 2014) whose start is the mixed key.
// It implements math/rand/v2.Source. It is not for cryptography, and one Draw
// must not be used from two goroutines.
type Draw struct{ state uint64 }

// NewDraw returns the source keyed by seed, purpose and coordinates, for example shard, timestep
// and epoch: whatever distinguishes two uses.
func NewDraw(seed uint64, purpose string, coords ...uint64) *Draw {
	h := mix64(seed ^ 0x9e3779b97f4a7c15)
	for i := range len(purpose) {
		h = mix64(h ^ uint64(purpose[i]))
	}
	h = mix64(h ^ uint64(len(purpose))<<32)
	d := Draw{state: h}
	for _, c := range coords {
		d = d.At(c)
	}
	return &d
}

// At returns the source that NewDraw would return with one more coordinate; d must not have drawn
// yet. It is for loops in which only the last coordinate changes.
func (d Draw) At(coord uint64) Draw { return Draw{state: mix64(d.state + 0x9e3779b97f4a7c15 ^ coord)} }

// Coordinates returns the pseudonym as two coordinates for NewDraw.
func (p Pseudonym) Coordinates() (hi, lo uint64) {
	return binary.BigEndian.Uint64(p[:8]), binary.BigEndian.Uint64(p[8:])
}

// Uint64 returns the next 64 random bits.
func (d *Draw) Uint64() uint64 {
	d.state += 0x9e3779b97f4a7c15
	return mix64(d.state)
}

// Float64 returns the next number in [0, 1), a multiple of 2^-53.
func (d *Draw) Float64() float64 { return float64(float64(d.Uint64()>>11) * 0x1p-53) }

// Float32 returns the next number in [0, 1), a multiple of 2^-24.
func (d *Draw) Float32() float32 { return float32(float32(d.Uint64()>>40) * 0x1p-24) }

// IntN returns the next number in [0, n). It panics if n is not positive.
func (d *Draw) IntN(n int) int {
	if n <= 0 {
		panic("lethe: IntN of a number that is not positive")
	}
	// Rejection keeps the draw unbiased for every n.
	limit := math.MaxUint64 - math.MaxUint64%uint64(n)
	for {
		if x := d.Uint64(); x < limit {
			return int(x % uint64(n))
		}
	}
}

// Normal returns the next draw from the standard normal distribution, by the
// Box-Muller transform. Like all draws, it has the same bits on every processor.
func (d *Draw) Normal() float64 {
	u := 1 - d.Float64() // in (0, 1]
	return float64(math.Sqrt(-2*gomath.Log(u)) * gomath.Cos(float64(2*math.Pi*d.Float64())))
}

func mix64(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
