package kafka_test

import (
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"lethe/ingest/bus"
	"lethe/integration/process"
)

// topics runs a topics command and returns what it printed.
func (d *deployment) topics(command string, flags ...string) process.Result {
	d.t.Helper()
	args := append([]string{"topics", command, "--brokers", d.brokers}, flags...)
	return process.Run(d.t, d.bin, append(args, d.settings()...)...)
}

func TestTopicsAreMadeAndMended(t *testing.T) {
	d := newLab(t).outside(t)
	missing := d.topics("check")
	require.Equal(t, 1, missing.Code)
	require.Equal(t, len(bus.Topics()), strings.Count(missing.Stdout, "topic is missing"))

	planned := d.topics("plan")
	require.Zero(t, planned.Code, planned.Stderr)
	require.Equal(t, len(bus.Topics()), strings.Count(planned.Stdout, ": create with "))
	require.Equal(t, missing.Stdout, d.topics("check").Stdout, "plan changes nothing")

	applied := d.topics("apply")
	require.Zero(t, applied.Code, applied.Stderr)
	checked := d.topics("check")
	require.Zero(t, checked.Code, checked.Stdout)
	// What the brokers' own settings make of an erasure is told, and is no difference.
	require.Contains(t, checked.Stdout, "log.cleaner.backoff.ms is 1000: how long the cleaner sleeps")
	require.Contains(t, checked.Stdout, "log.cleaner.threads is 1: ")

	// Someone changes a setting so that nothing is ever erased.
	client := kafka.Client{Addr: kafka.TCP(strings.Split(d.brokers, ",")...), Timeout: 10 * time.Second}
	response, err := client.IncrementalAlterConfigs(t.Context(), &kafka.IncrementalAlterConfigsRequest{
		Resources: []kafka.IncrementalAlterConfigsRequestResource{{
			ResourceType: kafka.ResourceTypeTopic, ResourceName: d.prefix + string(bus.Predictions),
			Configs: []kafka.IncrementalAlterConfigsRequestConfig{
				{Name: "cleanup.policy", Value: "delete", ConfigOperation: kafka.ConfigOperationSet},
				{Name: "delete.retention.ms", Value: "86400000", ConfigOperation: kafka.ConfigOperationSet},
			},
		}},
	})
	require.NoError(t, err)
	require.NoError(t, response.Resources[0].Error)
	var changed process.Result
	require.Eventually(t, func() bool {
		changed = d.topics("check")
		return changed.Code == 1
	}, 60*time.Second, 200*time.Millisecond, "the check does not see the change")
	require.Contains(t, changed.Stdout, "predictions.v1: cleanup.policy is delete, want compact")
	require.Contains(t, changed.Stdout, "predictions.v1: delete.retention.ms is 86400000, want 0")

	planned = d.topics("plan")
	require.Contains(t, planned.Stdout, "predictions.v1: cleanup.policy from delete to compact")
	mended := d.topics("apply")
	require.Zero(t, mended.Code, mended.Stderr)
	checked = d.topics("check")
	require.Zero(t, checked.Code, checked.Stdout)

	// Wanted on three brokers, kept by one: check says so, and apply cannot move data.
	three := []string{"--set", "kafka.replication_factor=3"}
	require.Contains(t, d.topics("check", three...).Stdout, "labels.v1: replication is 1, want 3")
	require.Contains(t, d.topics("plan", three...).Stdout, "labels.v1: replication is 1, want 3: apply does not move data")
	require.Zero(t, d.topics("apply", three...).Code)
}
