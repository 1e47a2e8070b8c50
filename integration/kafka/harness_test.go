package kafka_test

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/canonical"
	"lethe/dataset"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/integration/process"
	"lethe/internal/realdata"
	"lethe/pipeline/wire"
	"lethe/service"
)

const (
	steps        = 6
	nodesPerStep = 120
	// erasureMax is how long an erasure may take: Apache Kafka closes a segment
	// after a minute and cleans it when its cleaner comes by, twice.
	erasureMax = 4 * time.Minute
)

// outside says where the broker is that the tests were given. TestMain takes it
// out of the environment, where lethe would mistake it for configuration.
var outside struct{ brokers, dir, sasl, mutual, expired, links, certificates, cluster string }

func TestMain(m *testing.M) {
	for name, to := range map[string]*string{
		"LETHE_BROKERS": &outside.brokers, "LETHE_BROKER_DIR": &outside.dir, "LETHE_SASL_BROKER": &outside.sasl,
		"LETHE_MTLS_BROKER": &outside.mutual, "LETHE_EXPIRED_BROKER": &outside.expired,
		"LETHE_BROKER_LINKS": &outside.links, "LETHE_BROKER_CERTIFICATES": &outside.certificates,
		"LETHE_KAFKA_CLUSTER": &outside.cluster,
	} {
		*to = os.Getenv(name)
		os.Unsetenv(name)
	}
	zerolog.SetGlobalLevel(zerolog.Disabled) // toxiproxy's toxics write to standard error by themselves
	os.Exit(m.Run())
}

// lab is what all deployments of a test share, so that they can be compared.
type lab struct {
	bin, brokers string
	// dir holds the keys, and the dataset unless path says where it is.
	dir, path string
	stream    *dataset.Stream
	// parts are the timesteps, first and last, that are replayed one after the other by tests in
	// which something happens in between.
	parts [6][2]lethe.Timestep
}

// newLab skips the test if there is no broker.
func newLab(t *testing.T) *lab { return newLabOf(t, 12) }

// newLabOf is newLab of transactions with so many features.
func newLabOf(t *testing.T, features int) *lab {
	t.Helper()
	l := prepared(t)
	generated := process.Run(t, l.bin, "generate", "--out", l.dataset(),
		"--steps", "6", "--nodes-per-step", "120", "--features", strconv.Itoa(features), "--seed", "3")
	require.Zero(t, generated.Code, generated.Stderr)
	var err error
	l.stream, err = dataset.LoadElliptic(t.Context(), l.dataset())
	require.NoError(t, err)
	require.Len(t, l.stream.Steps, steps)
	for i := range l.parts {
		l.parts[i] = [2]lethe.Timestep{lethe.Timestep(i + 1), lethe.Timestep(i + 1)}
	}
	return l
}

// prepared is a lab without a stream.
func prepared(t *testing.T) *lab {
	t.Helper()
	l := &lab{brokers: outside.brokers, dir: t.TempDir()}
	if l.brokers == "" {
		t.Skip("no Kafka: run make kafka-test, or set LETHE_BROKERS to the host:port of a broker for tests")
	}
	l.bin = process.Build(t)
	require.NoError(t, os.WriteFile(l.secret(), []byte(strings.Repeat("5a", 32)+"\n"), 0o600))
	return l
}

// newRealLab is newLab of Bitcoin-OTC, in six parts of some eight timesteps; of a generated stream
// where the data are not at hand.
func newRealLab(t *testing.T) *lab {
	t.Helper()
	path, found := realdata.Find(t, "bitcoin-otc", "elliptic-format")
	if !found {
		t.Log("no real data (set LETHE_DATA): on a generated stream")
		return newLab(t)
	}
	l := prepared(t)
	l.path = path
	var err error
	l.stream, err = dataset.LoadElliptic(t.Context(), path)
	require.NoError(t, err)
	for i := range l.parts {
		at := func(part int) int { return part * len(l.stream.Steps) / len(l.parts) }
		l.parts[i] = [2]lethe.Timestep{l.stream.Steps[at(i)].Timestep, l.stream.Steps[at(i+1)-1].Timestep}
	}
	return l
}

func (l *lab) dataset() string { return cmp.Or(l.path, filepath.Join(l.dir, "stream")) }
func (l *lab) secret() string  { return filepath.Join(l.dir, "secret") }

// learnt reports whether everything up to the end of a part, from 1 on, has gone through.
func (l *lab) learnt(part int) func(service.Status) bool {
	return func(s service.Status) bool {
		return s.TrainedThrough == l.parts[part-1][1] && (part < len(l.parts) || s.LagRecords == 0)
	}
}

// replayParts publishes parts of the dataset.
func (d *deployment) replayParts(first, last int) {
	d.t.Helper()
	d.replaySteps(fmt.Sprintf("%d-%d", d.parts[first-1][0], d.parts[last-1][1]))
}

// slices are the digests of what slices.v1 holds in the end, by key.
func (d *deployment) slices() map[wire.Key]lethe.Digest {
	d.t.Helper()
	client, err := bus.Open(d.config())
	require.NoError(d.t, err)
	defer client.Close()
	out, reader := make(map[wire.Key]lethe.Digest), wire.NewReader()
	require.NoError(d.t, client.ReadAll(d.t.Context(), bus.Slices, func(rec ingest.Record) error {
		source := bus.TopicPartition{Topic: bus.Slices, Partition: rec.Partition}
		messages, err := reader.Read(bus.Batch{Source: source, Records: []ingest.Record{rec}})
		for _, m := range messages {
			if out[m.Key] = canonical.DigestOf(m.Payload); m.Deleted {
				delete(out, m.Key)
			}
		}
		return err
	}))
	return out
}

// deployment is a set of topics with one configuration.
type deployment struct {
	*lab
	t      *testing.T
	prefix string
	// brokers are the embedded broker's for the reference.
	brokers string
	// access are flags by which a user is let in, see as.
	access []string
}

// outside prepares a deployment on the broker; its topics go at the end.
func (l *lab) outside(t *testing.T) *deployment {
	t.Helper()
	var random [4]byte
	_, err := rand.Read(random[:])
	require.NoError(t, err)
	d := &deployment{lab: l, t: t, prefix: "lethe-test-" + hex.EncodeToString(random[:]) + ".", brokers: l.brokers}
	t.Cleanup(d.deleteTopics)
	return d
}

func (d *deployment) deleteTopics() {
	var names []string
	for _, topic := range bus.Topics() {
		names = append(names, d.prefix+string(topic))
	}
	client := kafka.Client{Addr: kafka.TCP(strings.Split(d.lab.brokers, ",")...), Timeout: 10 * time.Second}
	// The test's own context has ended when this runs.
	_, err := client.DeleteTopics(context.WithoutCancel(d.t.Context()), &kafka.DeleteTopicsRequest{Topics: names})
	if err != nil {
		d.t.Logf("the topics %s* are left behind: %v", d.prefix, err)
	}
}

// settings are the same for every process of every deployment: small models of every kind,
// the same secret and key.
func (d *deployment) settings() []string {
	var out []string
	for _, s := range []string{
		"kafka.topic_prefix=" + d.prefix, "kafka.partitions=2", "partition.shards=4", "trainer.hidden=8",
		"trainer.window_timesteps=3", "trainer.passes=1", "trainer.components=elliptic-gin,trees:2,logistic:2",
		"secret_file=" + d.secret(),
		"signing_key_file=" + filepath.Join(d.dir, "receipts.pem"),
	} {
		out = append(out, "--set", s)
	}
	return append(out, d.access...)
}

// process starts a process with the roles, or all of them.
func (d *deployment) process(dataDir string, ports process.Ports, roles string) *process.Service {
	d.t.Helper()
	args := d.settings()
	if roles != "" {
		args = append(args, "--roles", roles)
	}
	return process.StartOutside(d.t, d.bin, dataDir, ports, d.brokers, args...)
}

// client adds the flags by which commands find the deployment.
func (d *deployment) client(args ...string) []string {
	return append(append(args, "--brokers", d.brokers, "--topic-prefix", d.prefix), d.access...)
}

// predictions reads what a consumer would hold at the end: by transaction the
// newest record. A record that contradicts an earlier one with the same
// prediction id fails the test.
func (d *deployment) predictions() map[string]string {
	d.t.Helper()
	client, err := bus.Open(d.config())
	require.NoError(d.t, err)
	defer client.Close()
	out, byID := make(map[string]string), make(map[string]string)
	require.NoError(d.t, client.ReadAll(d.t.Context(), bus.Predictions, func(rec ingest.Record) error {
		switch key := string(rec.Key); {
		case strings.HasPrefix(key, "!"):
		case rec.Tombstone():
			delete(out, key)
		default:
			var p struct {
				ID string `json:"id"`
			}
			require.NoError(d.t, json.Unmarshal(rec.Value, &p))
			if before, seen := byID[p.ID]; seen {
				require.Equal(d.t, before, string(rec.Value), "a prediction id with two contents")
			}
			byID[p.ID] = string(rec.Value)
			out[key] = string(rec.Value)
		}
		return nil
	}))
	return out
}

// erase submits a request and returns the command that waits for its end.
func (d *deployment) erase(requestID, node string) *process.Background {
	d.t.Helper()
	return d.eraseWithin(erasureMax, requestID, node)
}

// eraseWithin is erase where it may take longer than usual.
func (d *deployment) eraseWithin(most time.Duration, requestID, node string) *process.Background {
	d.t.Helper()
	return process.Go(d.t, most, d.bin,
		d.client("erase", "submit", "--node", node, "--request-id", requestID, "--wait", "--json")...)
}

// verified waits for an erasure's end, as long as the services live that carry
// it out.
func verified(t *testing.T, b *process.Background, services ...*process.Service) deletions.Status {
	t.Helper()
	r := b.Wait(services...)
	require.Zero(t, r.Code, r.Stderr)
	var s deletions.Status
	require.NoError(t, json.Unmarshal([]byte(r.Stdout), &s), r.Stdout)
	require.Equal(t, deletions.Verified, s.State)
	return s
}

// trained reports whether everything that was published has gone through.
func trained(s service.Status) bool { return s.TrainedThrough == steps && s.LagRecords == 0 }

// equalPredictions compares two deployments' predictions and names what
// differs.
func equalPredictions(t *testing.T, want, got map[string]string) {
	t.Helper()
	require.Equal(t, slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got)))
	for id, value := range want {
		require.Equal(t, value, got[id])
	}
}
