package baselines

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCapacityOfThePublishedCode(t *testing.T) {
	require.Equal(t, 119, eraserCapacity(2166, 20)) // 108.3 + 0.005 * 2057.7 = 118.6
	require.Equal(t, 5, eraserCapacity(5, 1))
	require.Equal(t, 0, eraserCapacity(0, 3))
}
