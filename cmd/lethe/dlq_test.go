package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"lethe/configs"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/deadletters"
)

// Commands:
//
//	send topic=T               publish records, a key and a value on each line
//	until letters=N            wait until there are so many dead letters
//	until features=N           wait until the deployment has fixed its number of features
//	beside                     begin another deployment: its own data directory and topic prefix
//	lethe                      a command line, with $BROKERS
//
// Times are masked.
func TestDLQTranscript(t *testing.T) {
	b := &logbook{T: t, folder: t.TempDir()}
	b.data = filepath.Join(b.folder, "data")
	require.NoError(t, os.MkdirAll(filepath.Join(b.folder, "out"), 0o755))
	require.Empty(t, b.serve())
	defer func() { b.stop(0) }()
	datadriven.RunTest(t, "testdata/dlq", func(t *testing.T, td *datadriven.TestData) string {
		b.T = t
		switch td.Cmd {
		case "send":
			var topic string
			td.ScanArgs(t, "topic", &topic)
			var out []ingest.Outgoing
			for line := range strings.Lines(td.Input) {
				key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
				out = append(out, ingest.Outgoing{Key: []byte(key), Value: []byte(value)})
			}
			require.NoError(t, b.client.Write(t.Context(), bus.Topic(topic), out))
		case "beside":
			b.stop(0)
			b.data = filepath.Join(b.folder, "beside")
			b.configure = func(c *configs.Config) { c.Kafka.TopicPrefix = "v2." }
			return b.serve()
		case "until":
			if td.HasArg("features") {
				var features int
				td.ScanArgs(t, "features", &features)
				b.untilFeatures(features)
				return ""
			}
			var letters int
			td.ScanArgs(t, "letters", &letters)
			require.Eventually(t, func() bool {
				all, err := deadletters.List(t.Context(), b.client, deadletters.Filter{Open: true})
				return err == nil && len(all) == letters
			}, time.Minute, 20*time.Millisecond)
		case "lethe":
			return b.lethe(td)
		default:
			t.Fatalf("unknown command %s", td.Cmd)
		}
		return ""
	})
}

// untilFeatures waits until the service has fixed its number of features.
func (b *logbook) untilFeatures(want int) {
	require.Eventually(b, func() bool {
		_, stdout, _ := execute(b.T, "status", "--url", "http://"+b.address, "--json")
		var status struct {
			FeatureCount int `json:"feature_count"`
		}
		return json.Unmarshal([]byte(stdout), &status) == nil && status.FeatureCount == want
	}, time.Minute, 50*time.Millisecond)
}
