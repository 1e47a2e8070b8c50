package configs_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/configs"
)

func TestADataDirectoryKeepsItsIdentity(t *testing.T) {
	dir := t.TempDir()
	first, err := configs.LoadOrCreateInstance(dir, strings.NewReader("0123456789abcdef"))
	require.NoError(t, err)
	require.Equal(t, "30313233343536373839616263646566", first)
	again, err := configs.LoadOrCreateInstance(dir, strings.NewReader(""))
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.NoError(t, os.WriteFile(configs.InstancePath(dir), []byte("30"), 0o600))
	_, err = configs.LoadOrCreateInstance(dir, strings.NewReader(""))
	require.ErrorIs(t, err, configs.ErrKeyFile)
	require.ErrorContains(t, err, "--take-over")
	_, err = configs.LoadOrCreateInstance(t.TempDir(), strings.NewReader("short"))
	require.ErrorContains(t, err, "random source")
}
