package gomath

import "math"

// Cos returns the cosine of x, which must be within ±2^29.
func Cos(x float64) float64 {
	octant, z := reduced(math.Abs(x))
	negative := octant > 1 && octant < 6
	if octant %= 4; octant == 1 || octant == 2 {
		return signed(negative, sineNear0(z))
	}
	return signed(negative, cosineNear0(z))
}

// Sin returns the sine of x, which must be within ±2^29.
func Sin(x float64) float64 {
	octant, z := reduced(math.Abs(x))
	negative := (octant > 3) != math.Signbit(x)
	if octant %= 4; octant == 1 || octant == 2 {
		return signed(negative, cosineNear0(z))
	}
	return signed(negative, sineNear0(z))
}

// reduced returns the number of eighths of a turn in x ≥ 0, rounded up to an even number and
// modulo 8, and the rest, within ±π/4.
func reduced(x float64) (octant int, rest float64) {
	// π/4 in three parts, whose products with the octant are exact.
	const (
		high   = 7.85398125648498535156e-1
		middle = 3.77489470793079817668e-8
		low    = 2.69515142907905952645e-15
	)
	if !(x < 1<<29) {
		panic("gomath: angle out of range")
	}
	turns := int(x * (4 / math.Pi))
	turns += turns % 2
	y := float64(turns)
	return turns % 8, ((x - float64(y*high)) - float64(y*middle)) - float64(y*low)
}

func sineNear0(z float64) float64 {
	q := float64(z * z)
	sum := float64(1.58962301576546568060e-10*q) - 2.50507477628578072866e-8
	sum = float64(sum*q) + 2.75573136213857245213e-6
	sum = float64(sum*q) - 1.98412698295895385996e-4
	sum = float64(sum*q) + 8.33333333332211858878e-3
	sum = float64(sum*q) - 1.66666666666666307295e-1
	return z + float64(float64(z*q)*sum)
}

func cosineNear0(z float64) float64 {
	q := float64(z * z)
	sum := float64(-1.13585365213876817300e-11*q) + 2.08757008419747316778e-9
	sum = float64(sum*q) - 2.75573141792967388112e-7
	sum = float64(sum*q) + 2.48015872888517045348e-5
	sum = float64(sum*q) - 1.38888888888730564116e-3
	sum = float64(sum*q) + 4.16666666666665929218e-2
	return 1 - float64(0.5*q) + float64(float64(q*q)*sum)
}

func signed(negative bool, x float64) float64 {
	if negative {
		return -x
	}
	return x
}
