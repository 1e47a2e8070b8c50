package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/internal/command"
	"lethe/service"
	"lethe/service/waiting"
)

// TestStatusSaysWhatIsWaitedFor prints rejected records and each wait, with what to do.
func TestStatusSaysWhatIsWaitedFor(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, printStatus(&command.App{Stdout: &out}, &service.Status{
		TrainedThrough: lethe.NoTimestep, RejectedRecords: 898, Waiting: []waiting.Wait{{
			Cause: waiting.PartitionBehind, Since: time.Unix(0, 0), Move: waiting.Producer, Message: "Timestep 3 is open.",
			Do: "Send a close record.",
		}},
	}))
	require.Contains(t, out.String(), "ensemble      none yet\n")
	require.Contains(t, out.String(), "rejected      898 records since the process began (lethe dlq list)\n")
	require.Contains(t, out.String(),
		"waiting       Timestep 3 is open. (since 1970-01-01T00:00:00Z; the producer's move)\n"+
			"              → Send a close record.\n")
}

// TestStatusAndPlanAskAtTheConfiguredAddress names no --url: http.address of the environment and of a flag count.
func TestStatusAndPlanAskAtTheConfiguredAddress(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		json.NewEncoder(w).Encode(service.Status{Version: "here"})
	}))
	defer server.Close()
	address := strings.TrimPrefix(server.URL, "http://")
	for _, c := range []struct {
		args    []string
		environ []string
	}{
		{[]string{"status"}, []string{"LETHE_HTTP_ADDRESS=" + address}},
		{[]string{"status", "--http-address", address}, nil},
		{[]string{"erase", "plan", "--node", "a"}, []string{"LETHE_HTTP_ADDRESS=" + address}},
	} {
		var out, errs bytes.Buffer
		a := &command.App{Context: t.Context(), Stdout: &out, Stderr: &errs, Environ: c.environ}
		require.Zero(t, program().Execute(a, c.args), errs.String())
	}
	require.Equal(t, []string{"/api/v1/status", "/api/v1/status", "/api/v1/erasures/plan"}, asked)
}

// The largest part comes first, and what takes less than a megabyte is in the sum alone.
func TestDiskText_LargestFirst(t *testing.T) {
	require.Equal(t, "7 MB: train 5, broker 1", diskText(map[string]int64{
		"broker": 1_500_000, "train": 5_100_000, "keys": 500_000,
	}))
	require.Equal(t, "0 MB", diskText(map[string]int64{"keys": 300}))
}
