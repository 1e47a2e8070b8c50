package demo

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/dataset"
	"lethe/service"
	"lethe/service/waiting"
)

// A dataset with a code for "missing" would leave the demo waiting.
func TestADatasetWithFeaturesOutOfBoundsIsRefused(t *testing.T) {
	stream := &dataset.Stream{Steps: []dataset.Step{{Transactions: []lethe.Transaction{{Features: []float32{-1e6, 3}}}}}}
	require.NoError(t, checkFeatures(stream, 1e6))
	stream.Steps[0].Transactions[0].Features[1] = -math.MaxFloat32
	require.ErrorContains(t, checkFeatures(stream, 1e6), "features of up to ±3.4028234663852886e+38")
}

// TestADemoWhoseRecordsAreRejectedEnds says why and what to do.
func TestADemoWhoseRecordsAreRejectedEnds(t *testing.T) {
	require.NoError(t, stuck(&service.Status{Waiting: []waiting.Wait{{Cause: waiting.BrokersAway}}}))
	require.EqualError(t, stuck(&service.Status{Waiting: []waiting.Wait{
		{Cause: waiting.RecordsRejected, Message: "40 of 40.", Do: "See."},
	}}), "the demo cannot continue: 40 of 40. See.")
}
