package faults_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/dataset"
	"lethe/deletions"
	"lethe/integration/process"
	"lethe/service"
)

const (
	steps = 4
	// patience is how long a command may wait for an erasure.
	patience = time.Minute
)

// Each fault has a service of its own, side by side: most of the time they wait.
func TestFaults(t *testing.T) {
	bin := process.Build(t)
	for name, try := range map[string]func(t *testing.T, bin string){
		"full disk":                      fullDisk,
		"disk full now and then":         nowAndThenFull,
		"full disk of build":             fullDiskOf("build"),
		"full disk of train":             fullDiskOf("train"),
		"full disk of score":             fullDiskOf("score"),
		"read-only folders":              readOnlyFolders,
		"read-only folder of the broker": readOnlyBrokerFolder,
		"read-only folders at the start": readOnlyAtTheStart,
		"planted copies":                 plantedCopies,
		"added partitions":               addedPartitions,
		"lost graphs":                    lostGraphs,
		"largest features":               largestFeatures,
		"files held open":                filesHeldOpen,
		"damaged tables":                 damagedTables,
		"paying strangers":               payingStrangers,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			try(t, bin)
		})
	}
}

// deployment is one process with all roles and its own broker.
type deployment struct {
	*process.Service
	t               *testing.T
	bin, dir, input string
	ports           process.Ports
	stream          *dataset.Stream
}

// newDeployment starts a service on a data directory.
func newDeployment(t *testing.T, bin, dir string, sets ...string) *deployment {
	t.Helper()
	d := &deployment{
		t: t, bin: bin, dir: dir, ports: process.FreePorts(t), input: filepath.Join(t.TempDir(), "stream"),
	}
	generated := process.Run(t, d.bin, "generate", "--out", d.input,
		"--steps", "4", "--nodes-per-step", "60", "--features", "8", "--seed", "3")
	require.Zero(t, generated.Code, generated.Stderr)
	var err error
	d.stream, err = dataset.LoadElliptic(t.Context(), d.input)
	require.NoError(t, err)
	d.start(sets...)
	return d
}

func (d *deployment) start(sets ...string) {
	d.t.Helper()
	d.Service = process.Start(d.t, d.bin, d.dir, d.ports, d.settings(sets...)...)
}

func (d *deployment) settings(more ...string) (args []string) {
	sets := []string{"kafka.partitions=2", "partition.shards=4", "trainer.hidden=8", "trainer.passes=1",
		"trainer.components=elliptic-gin,trees:2,logistic:2"}
	for _, set := range append(sets, more...) {
		args = append(args, "--set", set)
	}
	return args
}

// replay publishes timesteps, without waiting.
func (d *deployment) replay(which string) process.Result {
	d.t.Helper()
	return process.Run(d.t, d.bin, "replay", "--dataset", d.input, "--brokers", d.Brokers, "--steps", which)
}

// learnt waits until the models have learnt from a timestep.
func (d *deployment) learnt(last int) {
	d.t.Helper()
	d.Await("training", func(s service.Status) bool { return int(s.TrainedThrough) == last && s.LagRecords == 0 })
}

// node is a transaction of a timestep.
func (d *deployment) node(step, at int) string {
	return string(d.stream.Steps[step].Transactions[at].ID)
}

// erase asks for an erasure and returns the command that waits for it.
func (d *deployment) erase(id, node string) *process.Background {
	d.t.Helper()
	return process.Go(d.t, patience, d.bin, "erase", "submit", "--node", node, "--request-id", id, "--wait", "--json",
		"--brokers", d.Brokers)
}

// verified waits for the end of an erasure.
func (d *deployment) verified(b *process.Background) {
	d.t.Helper()
	r := b.Wait(d.Service)
	require.Zero(d.t, r.Code, r.Stderr+d.Log())
	var s deletions.Status
	require.NoError(d.t, json.Unmarshal([]byte(r.Stdout), &s), r.Stdout)
	require.Equal(d.t, deletions.Verified, s.State)
}

// state is what the status of an erasure says, nothing before it was read.
func (d *deployment) state(id string) (s deletions.Status) {
	d.t.Helper()
	r := process.Run(d.t, d.bin, "erase", "status", id, "--json", "--brokers", d.Brokers)
	if r.Code == 0 {
		require.NoError(d.t, json.Unmarshal([]byte(r.Stdout), &s), r.Stdout)
	}
	return s
}

// audit stops the service and has its data directory checked, every model trained
// anew.
func (d *deployment) audit() {
	d.t.Helper()
	require.Zero(d.t, d.Stop(), d.Log())
	r := process.Run(d.t, d.bin, append([]string{"verify", "--fresh", "--data-dir", d.dir}, d.settings()...)...)
	require.Zero(d.t, r.Code, r.Stdout+r.Stderr)
}

// fill takes all room of a folder's file system, and returns what gives it back.
func fill(t *testing.T, dir string) (free func()) {
	t.Helper()
	path := filepath.Join(dir, "filler")
	f, err := os.Create(path)
	require.NoError(t, err)
	block := make([]byte, 4096)
	for err == nil {
		_, err = f.Write(block)
	}
	require.NoError(t, f.Close())
	return func() { require.NoError(t, os.Remove(path)) }
}
