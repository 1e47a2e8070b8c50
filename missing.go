package lethe

import (
	"math"
	"slices"
	"strconv"
)

// missingBits are the bits of a feature that a record says nothing about. Every NaN
// would do for arithmetic; one alone keeps canonical bytes canonical.
const missingBits = 0x7fc00000

// Missing returns the value of a feature that a record says nothing about: null in JSON,
// an empty field in CSV. Trees have a way for it in every split; networks and logistic
// regression take 0.
func Missing() float32 { return math.Float32frombits(missingBits) }

// IsMissing reports whether a feature has no value.
func IsMissing(v float32) bool { return v != v }

// AppendFeature appends a feature as JSON: the shortest decimals that read back as the same
// float32, or null. It must not be infinite.
func AppendFeature(dst []byte, v float32) []byte {
	if IsMissing(v) {
		return append(dst, "null"...)
	}
	return strconv.AppendFloat(dst, float64(v), 'g', -1, 32)
}

// ZeroMissing returns the features with 0 for those that have no value. It returns the
// same slice if all have one, and else a copy.
func ZeroMissing(features []float32) []float32 {
	first := slices.IndexFunc(features, IsMissing)
	if first < 0 {
		return features
	}
	out := slices.Clone(features)
	for i := first; i < len(out); i++ {
		if IsMissing(out[i]) {
			out[i] = 0
		}
	}
	return out
}
