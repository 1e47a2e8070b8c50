package demo_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"lethe/internal/realdata"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/configs"
	"lethe/dataset"
	"lethe/demo"
	"lethe/integration/process"
	"lethe/internal/residue"
)

// Bounds for 2 cores.
const (
	secondsMax     = 300
	memoryBytesMax = 2 << 30
)

// full asks for the demos. They are measured, so nothing else should run beside
// them, as it would in a run of all packages.
var full = flag.Bool("full", false, "run the demos and check their time and memory")

func requireFull(t *testing.T) {
	t.Helper()
	if !*full {
		t.Skip("the demos are measured and run by themselves: make demo-check")
	}
}

// run runs lethe demo --json and checks time, memory and standard output.
func run(t *testing.T, bin string, args ...string) demo.Result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c := exec.Command(bin, append([]string{"demo", "--json", "--data-dir", filepath.Join(t.TempDir(), "data")},
		args...)...)
	c.Stdout, c.Stderr = &stdout, &stderr
	started := time.Now()
	require.NoError(t, c.Run(), "%s", &stderr)
	seconds := time.Since(started).Seconds()
	usage := c.ProcessState.SysUsage().(*syscall.Rusage)
	t.Logf("%.1f s, %d MiB at most", seconds, usage.Maxrss>>10)
	require.Less(t, seconds, float64(secondsMax))
	require.Less(t, usage.Maxrss<<10, int64(memoryBytesMax))
	require.Contains(t, stderr.String(), "erasure: ", "no progress was shown")
	decoder := json.NewDecoder(&stdout)
	var r demo.Result
	require.NoError(t, decoder.Decode(&r))
	require.False(t, decoder.More(), "more than one document on standard output")
	return r
}

// checkErasure checks the erasure with means of its own: the command that
// verifies receipts, and a search that knows nothing of lethe's scanner.
func checkErasure(t *testing.T, bin string, r demo.Result, stream *dataset.Stream) {
	t.Helper()
	require.Len(t, r.Erasures, 1)
	e := r.Erasures[0]
	require.Equal(t, "verified", string(e.State))
	require.NotEqual(t, e.EnsembleBefore, e.EnsembleAfter)
	require.Equal(t, r.EnsembleHash, e.EnsembleAfter)
	key := filepath.Join(r.DataDir, "keys", "receipt-ed25519.pub.pem")
	verified := process.Run(t, bin, "receipt", "verify", e.Receipt, "--public-key", key)
	require.Zero(t, verified.Code, verified.Stderr)
	require.Contains(t, verified.Stdout, "trusted key")

	audit := process.Run(t, bin, "verify", "--data-dir", r.DataDir, "--json")
	require.Zero(t, audit.Code, audit.Stdout+audit.Stderr)
	require.Contains(t, audit.Stdout, r.EnsembleHash)

	require.Empty(t, left(t, r.DataDir, stream, e.Nodes[0]))
	// The same search must find a transaction that was not erased.
	stays := stream.Steps[len(stream.Steps)*2/3].Transactions[0]
	if stays.ID == e.Nodes[0] {
		stays = stream.Steps[len(stream.Steps)*2/3].Transactions[1]
	}
	require.NotEmpty(t, left(t, r.DataDir, stream, stays.ID))
}

// left lists what the data directory holds of a transaction.
func left(t *testing.T, dataDir string, stream *dataset.Stream, id lethe.TransactionID) []residue.Hit {
	t.Helper()
	secret, err := configs.LoadOrCreateSecret(filepath.Join(dataDir, "keys", "secret"), nil)
	require.NoError(t, err)
	forms, err := residue.Of(secret, stream, id)
	if !errors.Is(err, residue.ErrSharedFeatures) {
		require.NoError(t, err)
	}
	report, err := residue.Search(forms, dataDir)
	require.NoError(t, err)
	return report.Hits
}

func TestDemoOnGeneratedData(t *testing.T) {
	requireFull(t)
	bin := process.Build(t)
	r := run(t, bin)
	require.Equal(t, 20, r.Timesteps)
	require.NotNil(t, r.Test.AUC)
	require.Greater(t, *r.Test.AUC, 0.95)
	require.Less(t, *r.Test.AUC, 0.999, "generated data must not be trivial")
	require.NotNil(t, r.Test.BestF1)
	require.GreaterOrEqual(t, r.Test.IllicitF1, 0.9**r.Test.BestF1)
	options := dataset.GenerateDefaults()
	options.Steps, options.NodesPerStep, options.Seed = 20, 1000, 1
	stream, err := dataset.Generate(options)
	require.NoError(t, err)
	checkErasure(t, bin, r, stream)
}

func TestDemoOnBitcoinOTC(t *testing.T) {
	requireFull(t)
	dir := realdata.Path(t, "bitcoin-otc", "elliptic-format")
	bin := process.Build(t)
	r := run(t, bin, "--dataset", dir)
	require.Equal(t, 49, r.Timesteps)
	require.Equal(t, 35_592, r.Transactions)
	require.Equal(t, 44_802, r.Payments)
	require.Equal(t, [2]lethe.Timestep{35, 49}, r.TestTimesteps)
	require.Equal(t, 1551+3275, r.Test.Labelled)
	require.NotNil(t, r.Test.AUC)
	require.NotNil(t, r.Test.AveragePrecision)
	require.NotNil(t, r.Test.ExpectedCalibrationError)
	t.Logf("AUC %.4f, average precision %.4f, illicit-F1 %.4f, calibration error %.4f; ensemble %s",
		*r.Test.AUC, *r.Test.AveragePrecision, r.Test.IllicitF1, *r.Test.ExpectedCalibrationError, r.EnsembleHash)
	require.GreaterOrEqual(t, *r.Test.AUC, 0.9905)
	require.GreaterOrEqual(t, *r.Test.AveragePrecision, 0.981)
	require.GreaterOrEqual(t, r.Test.IllicitF1, 0.925)
	require.LessOrEqual(t, *r.Test.ExpectedCalibrationError, 0.03)
	stream, err := dataset.LoadElliptic(t.Context(), dir)
	require.NoError(t, err)
	checkErasure(t, bin, r, stream)
}
