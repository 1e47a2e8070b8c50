package service_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/service"
	"lethe/service/servicetest"
)

// A service that could not sign a receipt does not start, and leaves nothing
// behind.
func TestServiceNeedsAVersion(t *testing.T) {
	c := servicetest.SmallConfig(t, filepath.Join(t.TempDir(), "data"))
	_, err := service.New(t.Context(), service.Options{Config: c, Random: servicetest.Zeros{}})
	require.ErrorContains(t, err, "version is empty")
	_, err = os.Stat(c.DataDir)
	require.ErrorIs(t, err, os.ErrNotExist)
}
