package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/internal/command"
	"lethe/service"
	"lethe/service/waiting"
)

// TestStatusSaysWhatIsWaitedFor prints rejected records and each wait, with what to do.
func TestStatusSaysWhatIsWaitedFor(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, printStatus(&command.App{Stdout: &out}, &service.Status{
		RejectedRecords: 898, Waiting: []waiting.Wait{{
			Cause: waiting.PartitionBehind, Since: time.Unix(0, 0), Move: waiting.Producer, Says: "Timestep 3 is open.",
			Do: "Send a close record.",
		}},
	}))
	require.Contains(t, out.String(), "rejected      898 records since the process began (lethe dlq list)\n")
	require.Contains(t, out.String(), "waiting       Timestep 3 is open. (since 1970-01-01T00:00:00Z; the producer's move)\n"+
		"              → Send a close record.\n")
}
