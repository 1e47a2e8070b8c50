package demo

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/dataset"
)

// A dataset with a code for "missing" would leave the demo waiting.
func TestADatasetWithFeaturesOutOfBoundsIsRefused(t *testing.T) {
	stream := &dataset.Stream{Steps: []dataset.Step{{Transactions: []lethe.Transaction{{Features: []float32{-1e6, 3}}}}}}
	require.NoError(t, checkFeatures(stream, 1e6))
	stream.Steps[0].Transactions[0].Features[1] = -math.MaxFloat32
	require.ErrorContains(t, checkFeatures(stream, 1e6), "features of up to ±3.4028234663852886e+38")
}
