package embedded_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/ingest/embedded"
)

// childDir names the directory in which the test program, started again as a
// child, runs a broker until it is killed.
const childDir = "LETHE_TEST_BROKER_DIR"

// child writes records k0, k1, ... for ever, compacts all the time and says on
// standard output which records were acknowledged.
func child() {
	b, err := embedded.Start(os.Getenv(childDir), embedded.Config{CleanOnDemand: true}, slog.New(slog.DiscardHandler))
	if err != nil {
		panic(err)
	}
	c, err := bus.Open(b.Config())
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	if err := c.Admin().Apply(ctx); err != nil {
		panic(err)
	}
	go func() {
		for {
			_ = b.Compact()
		}
	}()
	filler := strings.Repeat("x", 2000)
	for i := 0; ; i++ {
		records := []ingest.Outgoing{put(fmt.Sprintf("k%d", i), filler), put("same", fmt.Sprint(i))}
		if err := c.Write(ctx, bus.Erasures, records); err != nil {
			panic(err)
		}
		fmt.Println(i)
	}
}

// Killed at any moment, compaction included, the broker keeps every record it
// acknowledged.
func TestKilledBrokerLosesNothing(t *testing.T) {
	rescued := 0
	for round := range 6 {
		dir := t.TempDir()
		command := exec.Command(os.Args[0])
		command.Env = append(os.Environ(), childDir+"="+dir)
		out, err := command.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, command.Start())
		lines := bufio.NewScanner(out)
		acknowledged := -1
		var deadline time.Time
		killed := false
		for lines.Scan() {
			_, err := fmt.Sscan(lines.Text(), &acknowledged)
			require.NoError(t, err)
			if deadline.IsZero() {
				deadline = time.Now().Add(80*time.Millisecond + time.Duration(round)*23*time.Millisecond)
			}
			if !killed && acknowledged > 0 && time.Now().After(deadline) {
				require.NoError(t, command.Process.Signal(syscall.SIGKILL))
				killed = true
			}
		}
		require.Error(t, command.Wait())
		require.Positive(t, acknowledged)
		if _, err := os.Stat(filepath.Join(dir, "rescue")); err == nil {
			rescued++
		}

		b, err := embedded.Start(dir, embedded.Config{CleanInterval: time.Second}, slog.New(slog.DiscardHandler))
		require.NoError(t, err)
		c, err := bus.Open(b.Config())
		require.NoError(t, err)
		found := readAll(t, c, bus.Erasures)
		for i := range acknowledged + 1 {
			require.Contains(t, found, fmt.Sprintf("k%d", i), "round %d of %d records", round, acknowledged)
		}
		require.NoDirExists(t, filepath.Join(dir, "rescue"))
		require.NoError(t, c.Close())
		require.NoError(t, b.Close())
	}
	t.Logf("%d of 6 brokers were killed during a compaction", rescued)
}

// A compaction that did not end is undone, even if undoing is interrupted.
func TestInterruptedCompactionIsUndone(t *testing.T) {
	dir := t.TempDir()
	b, err := embedded.Start(dir, embedded.Config{CleanOnDemand: true}, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	c, err := bus.Open(b.Config())
	require.NoError(t, err)
	require.NoError(t, c.Admin().Apply(t.Context()))
	for i := range 5 {
		require.NoError(t, c.Write(t.Context(), bus.Receipts, []ingest.Outgoing{put(fmt.Sprint("k", i), "v")}))
	}
	require.NoError(t, c.Close())
	require.NoError(t, b.Close())

	// As after a kill: the links exist, the files are gone, an earlier attempt
	// to make links and to remove them left something.
	partitions := filepath.Join(dir, "log", "partitions")
	require.NoError(t, os.Rename(partitions, filepath.Join(dir, "rescue")))
	require.NoError(t, os.MkdirAll(filepath.Join(partitions, "half"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(partitions, "half", "0.dat"), []byte("rubbish"), 0o600))
	for _, name := range []string{"rescue.making", "rescue.spent"} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, name, "x"), 0o700))
	}

	_, c = start(t, dir, embedded.Config{CleanInterval: time.Second})
	require.Len(t, readAll(t, c, bus.Receipts), 5)
	for _, name := range []string{"rescue", "rescue.making", "rescue.spent"} {
		require.NoDirExists(t, filepath.Join(dir, name))
	}
	require.NoDirExists(t, filepath.Join(partitions, "half"))
}
