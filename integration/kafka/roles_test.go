package kafka_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/dataset"
	"lethe/ingest/bus"
	"lethe/integration/process"
)

const (
	// windowSteps fill the default window of training, and measuredSteps come behind them.
	windowSteps, measuredSteps = 10, 4
)

// What each role takes of a processor for a transaction of 165 features, its labels, payments and
// predictions included, once the windows of training are full: KAFKA_TEST_ROLE_NODES=2000 says how many
// transactions a timestep has. Processor time says the same on a machine with other work.
func TestWhatARoleTakes(t *testing.T) {
	nodes := os.Getenv("KAFKA_TEST_ROLE_NODES")
	if nodes == "" {
		t.Skip("set KAFKA_TEST_ROLE_NODES to the number of transactions of a timestep")
	}
	l := prepared(t)
	generated := process.Run(t, l.bin, "generate", "--out", l.dataset(), "--steps", "14", "--nodes-per-step", nodes,
		"--features", "165", "--seed", "1")
	require.Zero(t, generated.Code, generated.Stderr)
	var err error
	l.stream, err = dataset.LoadElliptic(t.Context(), l.dataset())
	require.NoError(t, err)
	d, root := l.outside(t), t.TempDir()
	all := make(map[string]*process.Service)
	names := []string{"build", "train", "score", "view"}
	for _, role := range names {
		all[role] = process.StartOutside(t, d.bin, filepath.Join(root, role), process.FreePorts(t), d.brokers,
			"--roles", role, "--set", "kafka.topic_prefix="+d.prefix, "--set", "secret_file="+d.secret(),
			"--set", "signing_key_file="+filepath.Join(d.dir, "receipts.pem"),
			"--set", "trainer.components=elliptic-gin,trees:2,logistic:2")
	}
	use := func() map[string]float64 {
		out := map[string]float64{"broker": processorSeconds(t, brokerProcess())}
		for role, s := range all {
			out[role] = processorSeconds(t, s.PID())
		}
		return out
	}
	learnt := func(through lethe.Timestep) {
		t.Helper()
		require.Eventually(t, func() bool { return d.published(bus.Models, through).all() }, 20*time.Minute, time.Second)
	}
	d.replaySteps("1-10")
	learnt(windowSteps)
	before := use()
	d.replaySteps("11-14")
	learnt(windowSteps + measuredSteps)
	after, sent := use(), 0
	for _, step := range l.stream.Steps[windowSteps:] {
		sent += len(step.Transactions)
	}
	for _, name := range append(names, "broker") {
		t.Logf("%s: %.0f µs of processor time a transaction", name, 1e6*(after[name]-before[name])/float64(sent))
	}
	for _, s := range all {
		require.Zero(t, s.Stop(), s.Log())
	}
}
