package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/internal/testbroker"
)

// Nobody carries requests out here.
func TestEraseSubmit_TimeIsUp_NamesWhereToLook(t *testing.T) {
	broker, _ := testbroker.Start(t, nil)
	submit := []string{
		"erase", "submit", "--node", "tx-1", "--request-id", "gdpr-1", "--wait", "--topic-prefix", "lethe.",
		"--data-dir", t.TempDir(), "--brokers", broker.Config().Brokers[0],
	}
	code, _, stderr := execute(t, append(submit, "--timeout=500ms")...)
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "request gdpr-1 did not end within --timeout 500ms (not read yet); it continues, "+
		"see lethe erase status gdpr-1\n")
	code, _, stderr = execute(t, append(submit, "--timeout=-1s")...)
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "--timeout is -1s: give a positive duration, such as 10m\n")
}
