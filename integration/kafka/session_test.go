package kafka_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/integration/process"
)

// A session that brokers do not allow would mean that nobody leads or trains: a process says so,
// with what brokers take, and does not begin.
func TestASessionThatBrokersRefuse(t *testing.T) {
	d := newLab(t).outside(t)
	for _, role := range []string{"train", "score"} {
		args := append([]string{
			"run", "--data-dir", filepath.Join(t.TempDir(), "data"), "--brokers", d.brokers, "--roles", role,
			"--http-address", "127.0.0.1:0", "--set", "kafka.session_timeout=2s",
		}, d.settings()...)
		r := process.Run(t, d.bin, args...)
		require.Equal(t, 1, r.Code, r.Stderr)
		require.Contains(t, r.Stderr, "kafka.session_timeout is 2s, and brokers take 6000 ms (group.min.session.timeout.ms)")
	}
}
