package lethe

import (
	"math"
	"slices"
	"strconv"
)

// missingBits is the only NaN for a missing feature. Any NaN would do for arithmetic; a single
// one keeps the bytes canonical.
const missingBits = 0x7fc00000

// Missing returns the value of a feature that is absent from a record: null in JSON, an empty
// field in CSV. Trees have a direction for it in every split; networks and logistic regression
// use 0.
func Missing() float32 { return math.Float32frombits(missingBits) }

// IsMissing reports whether a feature has no value.
func IsMissing(v float32) bool { return v != v }

// AppendFeature appends a feature as JSON: the shortest decimals that parse to the same float32,
// or null. The feature must not be infinite.
func AppendFeature(dst []byte, v float32) []byte {
	if IsMissing(v) {
		return append(dst, "null"...)
	}
	return strconv.AppendFloat(dst, float64(v), 'g', -1, 32)
}

// ZeroMissing returns the features with 0 for missing values. It returns the same slice if none
// is missing, otherwise a copy.
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
