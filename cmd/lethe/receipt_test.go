package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
)

// An id of zeros was taken as none, so that the receipt of any deployment passed.
func TestReceiptOfTheDeploymentOfZerosIsRefused(t *testing.T) {
	_, _, err := trustFlags{Deployment: new(lethe.DeploymentID)}.trust(nil)
	require.ErrorContains(t, err, "--deployment: no deployment has an id of zeros")
}
