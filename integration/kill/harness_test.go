package kill_test

import (
	"encoding/hex"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/audit"
	"lethe/configs"
	"lethe/dataset"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/integration/process"
	"lethe/service"
)

var seedFlag = flag.Uint64("kill.seed", 0, "seed of the kill points; 0 takes a new one")

// newRandom returns the test's source of kill points and prints its seed.
func newRandom(t *testing.T) *rand.Rand {
	t.Helper()
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64() | 1
	}
	t.Logf("kill points of -kill.seed=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// upTo returns a random duration in [0, limit).
func upTo(r *rand.Rand, limit time.Duration) time.Duration {
	return time.Duration(r.Int64N(int64(limit)))
}

// setup is what the deployments of a test share: the program, the stream and
// the secret, without which their hashes could not be compared.
type setup struct {
	bin, dataset, secret string
	stream               *dataset.Stream
}

func newSetup(t *testing.T, bin string, steps, nodesPerStep int) *setup {
	t.Helper()
	s := &setup{bin: bin, dataset: filepath.Join(t.TempDir(), "stream")}
	generated := process.Run(t, bin, "generate", "--out", s.dataset, "--steps", strconv.Itoa(steps),
		"--nodes-per-step", strconv.Itoa(nodesPerStep), "--features", "12", "--seed", "7")
	require.Zero(t, generated.Code, generated.Stderr)
	var err error
	s.stream, err = dataset.LoadElliptic(t.Context(), s.dataset)
	require.NoError(t, err)
	key := make([]byte, 32)
	for i := range key {
		key[i] = byte(i + 1)
	}
	s.secret = process.WriteFile(t, "secret", hex.EncodeToString(key)+"\n")
	return s
}

// records counts what a replay of the stream publishes, control records aside.
func (s *setup) records() int {
	totals := s.stream.Totals()
	return totals.Transactions + totals.Payments + totals.Labels[0] + totals.Labels[1] + totals.Labels[2]
}

// deployment is a data directory and the process that runs on it.
type deployment struct {
	*setup
	t       *testing.T
	dir     string
	ports   process.Ports
	args    []string
	service *process.Service
}

// deploy prepares a deployment that trains in a moment. more are settings.
func (s *setup) deploy(t *testing.T, more ...string) *deployment {
	t.Helper()
	d := &deployment{setup: s, t: t, dir: filepath.Join(t.TempDir(), "data"), ports: process.FreePorts(t)}
	settings := append([]string{
		"secret_file=" + s.secret, "partition.shards=4", "trainer.hidden=8", "trainer.window_timesteps=3",
		"trainer.passes=1", "trainer.components=elliptic-gin,trees:2,logistic:2", "kafka.partitions=2", "log.level=warn",
		"erasure.verify_timeout=60s",
	}, more...)
	for _, setting := range settings {
		d.args = append(d.args, "--set", setting)
	}
	return d
}

// start starts the service and waits until it is ready.
func (d *deployment) start() {
	d.t.Helper()
	d.service = process.Start(d.t, d.bin, d.dir, d.ports, d.args...)
}

// crash kills the service and starts it again.
func (d *deployment) crash(r *rand.Rand) {
	d.t.Helper()
	d.service.Crash()
	d.restart(r)
}

// restart starts a service that was killed; with an even chance it is killed a
// second time while it is starting.
func (d *deployment) restart(r *rand.Rand) {
	d.t.Helper()
	if r.IntN(2) == 0 {
		starting := process.Launch(d.t, d.bin, d.dir, d.ports, d.args...)
		time.Sleep(upTo(r, 400*time.Millisecond))
		starting.Crash()
	}
	d.start()
}

// awaitReplayed waits until everything that was published is trained on.
func (d *deployment) awaitReplayed() service.Status {
	d.t.Helper()
	_, last := d.stream.Range()
	return d.service.Await("the last timestep", func(s service.Status) bool {
		return s.TrainedThrough == last && s.LagRecords == 0
	})
}

// client opens a connection to the deployment's broker. It outlives a restart.
func (d *deployment) client() *bus.Client {
	d.t.Helper()
	c := configs.Default()
	c.Kafka.Brokers = []string{d.service.Brokers}
	client, err := bus.Open(c.Kafka)
	require.NoError(d.t, err)
	d.t.Cleanup(func() { client.Close() })
	return client
}

// verify stops the service and lets lethe verify train every shard anew.
func (d *deployment) verify() audit.Report {
	d.t.Helper()
	require.Zero(d.t, d.service.Stop(), d.service.Log())
	out := process.Run(d.t, d.bin, append([]string{"verify", "--data-dir", d.dir, "--fresh", "--json"}, d.args...)...)
	require.Zero(d.t, out.Code, "%s%s", out.Stdout, out.Stderr)
	var report audit.Report
	require.NoError(d.t, json.Unmarshal([]byte(out.Stdout), &report))
	require.True(d.t, report.OK, "%v", report.Problems)
	return report
}

// topic is what stands in a topic: how many records there are that are neither
// tombstones nor control records, and the newest value under each key.
type topic struct {
	records int
	newest  map[string]string
}

func (d *deployment) read(name bus.Topic, each func(ingest.Record)) topic {
	d.t.Helper()
	out := topic{newest: make(map[string]string)}
	require.NoError(d.t, d.client().ReadAll(d.t.Context(), name, func(rec ingest.Record) error {
		switch {
		case len(rec.Key) > 0 && rec.Key[0] == '!':
			return nil
		case rec.Tombstone():
			delete(out.newest, string(rec.Key))
			return nil
		}
		out.records++
		out.newest[string(rec.Key)] = string(rec.Value)
		if each != nil {
			each(rec)
		}
		return nil
	}))
	return out
}
