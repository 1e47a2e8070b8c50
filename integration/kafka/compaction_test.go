package kafka_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"lethe/deletions"
	"lethe/ingest/bus"
	"lethe/integration/process"
)

// The settings under which a cleaner never comes by, and those under which it does as
// often as it can.
var (
	never = map[string]string{
		"min.cleanable.dirty.ratio": "1", "max.compaction.lag.ms": "604800000", "segment.ms": "604800000",
		"segment.bytes": "1073741824",
	}
	often = map[string]string{
		"min.cleanable.dirty.ratio": "0", "max.compaction.lag.ms": "1000", "segment.ms": "1000",
		"delete.retention.ms": "0",
	}
)

// compact gives the topics settings.
func (d *deployment) compact(settings map[string]string) {
	d.t.Helper()
	var resources []kafka.IncrementalAlterConfigsRequestResource
	for _, topic := range bus.Topics() {
		resource := kafka.IncrementalAlterConfigsRequestResource{
			ResourceType: kafka.ResourceTypeTopic, ResourceName: d.prefix + string(topic),
		}
		for name, value := range settings {
			resource.Configs = append(resource.Configs, kafka.IncrementalAlterConfigsRequestConfig{
				Name: name, Value: value, ConfigOperation: kafka.ConfigOperationSet,
			})
		}
		resources = append(resources, resource)
	}
	client := kafka.Client{Addr: kafka.TCP(strings.Split(d.brokers, ",")...), Timeout: 10 * time.Second}
	response, err := client.IncrementalAlterConfigs(d.t.Context(),
		&kafka.IncrementalAlterConfigsRequest{Resources: resources})
	require.NoError(d.t, err)
	for _, resource := range response.Resources {
		require.NoError(d.t, resource.Error)
	}
}

// A broker that never compacts keeps what was erased: the request fails and says so, is
// tried again, and ends once the topics have their settings again. That takes minutes; the
// short form gives them settings under which the cleaner comes by at once.
func TestABrokerThatNeverCompacts(t *testing.T) {
	patience := "15s"
	if testing.Short() {
		patience = "4s"
	}
	d := newLab(t).outside(t)
	s := process.StartOutside(t, d.bin, filepath.Join(t.TempDir(), "data"), process.FreePorts(t), d.brokers,
		append(d.settings(), "--set", "erasure.verify_timeout="+patience)...)
	d.replaySteps("1-6")
	s.Await("the end of the stream", trained)
	d.compact(never)
	waiting := d.erase("r1", string(d.stream.Steps[0].Transactions[0].ID))
	require.Eventually(t, func() bool {
		r := process.Run(t, d.bin, d.client("erase", "status", "r1", "--json")...)
		var said deletions.Status
		if r.Code != 0 {
			return false
		}
		require.NoError(t, json.Unmarshal([]byte(r.Stdout), &said), r.Stdout)
		require.NotEqual(t, deletions.Verified, said.State)
		return said.State == deletions.Failed && said.Failure == deletions.FailedHits
	}, 2*time.Minute, time.Second, "%s", s.Log())
	if testing.Short() {
		d.compact(often)
	} else {
		applied := d.topics("apply")
		require.Zero(t, applied.Code, applied.Stderr)
	}
	verified(t, waiting, s)
	require.Zero(t, s.Stop(), s.Log())
}
