package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/dataset"
	"lethe/ingest"
)

// A stream that lethe generates is one that it takes.
func TestGenerate_FeaturesAreThoseThatRunTakes(t *testing.T) {
	o := dataset.GenerateDefaults()
	o.Features = ingest.DefaultLimits().MaxFeatureCount
	require.NoError(t, o.Validate())
	o.Features++
	require.ErrorContains(t, o.Validate(), "features is 4097, want 2 to 4096")
}
