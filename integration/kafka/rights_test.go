package kafka_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"lethe/ingest/bus"
	"lethe/integration/process"
)

// Where the brokers do not let lethe at control.v1, the start ends in one line that names the topic and what is
// missing.
func TestAStartWithoutRightsToControlRecords(t *testing.T) {
	t.Parallel()
	d := prepared(t).outside(t)
	lethes := d.as("lethe")
	require.Zero(t, d.topics("apply").Code)
	client, err := bus.Open(d.config())
	require.NoError(t, err)
	defer client.Close()
	control := client.Name(bus.Control)
	rights := client.Admin().Rights(bus.Principals{
		Producer: "User:producer", Compliance: "User:compliance", Lethe: "User:lethe", Reader: "User:reader",
	})
	var others, reading []bus.Right
	for _, r := range rights {
		switch {
		case r.Name != control:
			others = append(others, r)
		case r.Operation != kafka.ACLOperationTypeWrite.String():
			reading = append(reading, r)
		}
	}
	require.Len(t, reading, 2, "to read it, and its settings")
	require.NoError(t, client.Admin().Grant(t.Context(), others))
	args := append([]string{
		"run", "--data-dir", filepath.Join(t.TempDir(), "data"), "--brokers", lethes.brokers,
		"--http-address", "127.0.0.1:0",
	}, lethes.settings()...)
	// Brokers get to know that a topic is gone a moment later.
	refusedFor := func(missing string) {
		t.Helper()
		var refused process.Result
		require.Eventually(t, func() bool {
			refused = process.Run(t, d.bin, args...)
			return strings.Contains(refused.Stderr, missing)
		}, time.Minute, 100*time.Millisecond, missing)
		t.Log(refused.Stderr)
		requireRefusal(t, refused, missing, "denied by the brokers' ACLs", "lethe topics acls prints")
	}
	refusedFor("topic " + control + ": denied by the brokers' ACLs")

	require.NoError(t, client.Admin().Grant(t.Context(), reading))
	refusedFor("Write on " + control + ": denied by the brokers' ACLs")

	// Without the topic, which it may not create either.
	require.NoError(t, client.Admin().Delete(t.Context(), bus.Control))
	refusedFor(control)
}
