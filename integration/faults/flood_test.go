package faults_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/service"
)

// floodSize is how many payments come of transactions that nobody knows. FLOOD_PAYMENTS sets
// another number.
func floodSize(t *testing.T) int {
	t.Helper()
	text := os.Getenv("FLOOD_PAYMENTS")
	if text == "" {
		return 150_000
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

// A flood of payments whose ends never come took 2.8 GB of memory.
func payingStrangers(t *testing.T, bin string) {
	d := newDeployment(t, bin, filepath.Join(t.TempDir(), "data"))
	require.Zero(t, d.replay("1-2").Code)
	d.learnt(2)
	client, err := bus.Open(bus.At(d.Brokers))
	require.NoError(t, err)
	defer client.Close()
	began := time.Now()
	const together = 10_000
	for at := 0; at < floodSize(t); at += together {
		flood := make([]ingest.Outgoing, 0, together)
		for i := at; i < at+together; i++ {
			flood = append(flood, ingest.Outgoing{
				Key:   fmt.Appendf(nil, "stranger-%d>nobody-%d", i, i),
				Value: fmt.Appendf(nil, `{"type":"payment","source":"stranger-%d","target":"nobody-%d","timestep":3}`, i, i),
			})
		}
		require.NoError(t, client.Write(t.Context(), bus.Transactions, flood))
	}
	t.Logf("%d payments sent after %.0f s", floodSize(t), time.Since(began).Seconds())
	require.Zero(t, d.replay("3-4").Code)
	var s service.Status
	require.Eventually(t, func() bool {
		s, _ = d.Status()
		return int(s.TrainedThrough) == steps && s.LagRecords == 0
	}, 15*time.Minute, time.Second, "%s", d.Log())
	t.Logf("learnt after %.0f s, at most %d MB", time.Since(began).Seconds(), d.PeakBytes()>>20)
	require.Less(t, d.PeakBytes(), int64(1<<30))
	_, after, found := strings.Cut(d.Page("/metrics"),
		`lethe_dlq_records_total{reason="too_many_waiting",topic="transactions.v1"} `)
	require.True(t, found)
	text, _, _ := strings.Cut(after, "\n")
	refused, err := strconv.ParseFloat(text, 64)
	require.NoError(t, err)
	require.GreaterOrEqual(t, int(refused), floodSize(t)-100_000)
}
