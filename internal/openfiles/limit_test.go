package openfiles_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/internal/openfiles"
)

const childEnv = "LETHE_TEST_PRINT_LIMIT"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		limit, err := openfiles.Limit()
		fmt.Printf("%d %v", limit, err)
		return
	}
	os.Exit(m.Run())
}

// Go raises the soft limit by itself, to one below the hard one, so that only a low hard limit is left to report.
func TestLimit_SoftLimitIsLow_IsTheHardLimit(t *testing.T) {
	if _, err := openfiles.Limit(); errors.Is(err, openfiles.ErrUnknown) {
		t.Skip(err)
	}
	for shell, want := range map[string]string{
		"ulimit -Sn 128; ulimit -Hn 900": "899 <nil>",
		"ulimit -n 200":                  "200 <nil>",
	} {
		c := exec.CommandContext(t.Context(), "bash", "-c", shell+`; exec "$0"`, os.Args[0])
		c.Env = append(os.Environ(), childEnv+"=1")
		out, err := c.Output()
		require.NoError(t, err)
		require.Equal(t, want, string(out), shell)
	}
}

func TestWithin_LowLimit_NamesNumberAndRemedy(t *testing.T) {
	small, large := openfiles.Use{Partitions: 4, Embedded: true}, openfiles.Use{Partitions: 100, Embedded: true}
	for limit, want := range map[uint64]openfiles.Connections{
		639: {Broker: 120, HTTP: 32}, 640: {Broker: 120, HTTP: 32}, 1024: {Broker: 312, HTTP: 128},
		1 << 62: small.Unlimited(),
	} {
		got, err := small.Within(limit)
		require.NoError(t, err)
		require.Equal(t, want, got, limit)
		const ownFiles, ownEnds = 400, 88
		require.LessOrEqual(t, uint64(ownFiles+ownEnds+got.Broker+got.HTTP), max(limit, 640), "all of it is within")
	}
	for _, limit := range []uint64{64, 128, 256, 638} {
		_, err := small.Within(limit)
		require.ErrorContains(t, err, fmt.Sprintf("the limit of open files is %d, and lethe needs 640", limit))
		require.ErrorContains(t, err, "ulimit -n 640")
	}
	_, err := large.Within(2048)
	require.ErrorContains(t, err, "lethe needs 2560 with 100 partitions")
	_, err = openfiles.Use{Partitions: 4}.Within(520)
	require.NoError(t, err, "the broker is elsewhere")
}
