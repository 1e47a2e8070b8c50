package kafka_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/integration/process"
)

// The script that runs the processes of the chart without containers brings them up, and their stream is
// scored.
func TestTheProcessesRunWithoutContainers(t *testing.T) {
	d := newLab(t).outside(t)
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	const scored = `until curl -s "$API/alerts?limit=1" | grep -q '"final":true'; do sleep 0.2; done`
	folder := filepath.Join(t.TempDir(), "up")
	command := exec.CommandContext(ctx, "../../deploy/local/up.sh", folder, "bash", "-c", scored)
	command.Env = append(os.Environ(), "BROKERS="+d.lab.brokers, "PREFIX="+d.prefix, "BINARY="+d.bin,
		fmt.Sprintf("PORT=%d", process.FreePortsInRow(t, 4)), "STEPS=5", "NODES=120", "RATE=0",
		"CONFIG=partition: {shards: 4}\ntrainer: {hidden: 8}\n")
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = 30 * time.Second
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s", out)
}
