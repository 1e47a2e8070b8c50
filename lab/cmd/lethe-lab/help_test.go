package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// No help text names a variable that is not there.
func TestHelpTextsAreWhole(t *testing.T) {
	for name, text := range vars() {
		require.NotContains(t, text, "${", name)
	}
}
