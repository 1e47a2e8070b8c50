package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"lethe/configs"
	"lethe/ingest"
	"lethe/ingest/authority"
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
	b := newLogbook(t)
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

// What everybody is told whose signature does not count: one line, which names the statement that
// fails. Commands, beside those of TestLogTranscript that serve and run command lines:
//
//	keys                     the lines that lethe keys generate has printed into $OUT/*.line, as the file of
//	                         keys that the service is given
//	letters reasons=N        the dead letters by topic and reason, once there are so many kinds
func TestSigningTranscript(t *testing.T) {
	b := newLogbook(t)
	out := filepath.Join(b.folder, "out")
	file := filepath.Join(out, "authority.keys")
	b.configure = func(c *configs.Config) {
		c.Signatures = authority.Config{KeysFile: file, Control: true, Requests: 2, Operators: true}
	}
	datadriven.RunTest(t, "testdata/signatures", func(t *testing.T, td *datadriven.TestData) string {
		b.T = t
		switch td.Cmd {
		case "serve":
			return b.serve()
		case "stop":
			b.stop(0)
		case "keys":
			lines, err := filepath.Glob(filepath.Join(out, "*.line"))
			require.NoError(t, err)
			var text bytes.Buffer
			for _, line := range lines {
				one, err := os.ReadFile(line)
				require.NoError(t, err)
				text.Write(one)
			}
			require.NoError(t, os.WriteFile(file, text.Bytes(), 0o600))
		case "letters":
			want := 0
			td.ScanArgs(t, "reasons", &want)
			return b.letters(want)
		default:
			if instance, err := os.ReadFile(configs.InstancePath(b.data)); err == nil {
				td.Input = strings.ReplaceAll(td.Input, "$INSTANCE", strings.TrimSpace(string(instance)))
			}
			td.Input = strings.ReplaceAll(td.Input, "$KEYS",
				"--set signatures.operators=true --set signatures.keys_file="+file)
			return digests.ReplaceAllString(b.lethe(td), "/<digest>")
		}
		return ""
	})
}

// digests stand in the names under which refused requests are answered.
var digests = regexp.MustCompile(`/[0-9a-f]{16}\b`)

// letters waits for dead letters of so many topics and reasons, and lists these.
func (b *logbook) letters(want int) string {
	var said []string
	require.Eventually(b, func() bool {
		list, err := deadletters.List(b.Context(), b.client, deadletters.Filter{})
		if err != nil {
			return false
		}
		kinds := make(map[string]bool)
		for _, l := range list {
			kinds[fmt.Sprintf("%s: %s\n", l.Topic, l.Refusal.Reason)] = true
		}
		said = slices.Sorted(maps.Keys(kinds))
		return len(said) >= want
	}, time.Minute, 20*time.Millisecond)
	return strings.Join(said, "")
}
