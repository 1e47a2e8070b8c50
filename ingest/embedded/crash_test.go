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

// obstructed starts a broker whose next compaction fails, because folders are in the way of the
// segment that it writes, and returns what takes them away again.
func obstructed(t *testing.T, dir string) (b *embedded.Broker, clear func()) {
	t.Helper()
	b, c := start(t, dir, embedded.Config{CleanOnDemand: true})
	// The newest write stays, and of those before it the newest: at 2 the new segment begins.
	for range 4 {
		require.NoError(t, c.Write(t.Context(), bus.Models, []ingest.Outgoing{put("k", "v")}))
	}
	topics, err := filepath.Glob(filepath.Join(dir, "log", "partitions", "*"+string(bus.Models)+"-*"))
	require.NoError(t, err)
	require.NotEmpty(t, topics)
	for _, topic := range topics {
		require.NoError(t, os.MkdirAll(filepath.Join(topic, "2.dat", "folder"), 0o700))
	}
	return b, func() {
		for _, topic := range topics {
			for _, folder := range []string{"log/partitions", "rescue"} {
				require.NoError(t, os.RemoveAll(filepath.Join(dir, folder, filepath.Base(topic), "2.dat")))
			}
		}
	}
}

// A compaction that cannot write what it has read stops the broker until it can, and loses
// nothing.
func TestACompactionThatFailsIsTakenBack(t *testing.T) {
	b, clear := obstructed(t, t.TempDir())
	address := b.Config().Brokers
	err := b.Compact()
	require.ErrorIs(t, err, embedded.ErrDamaged)
	require.ErrorIs(t, err, syscall.EISDIR)
	require.ErrorIs(t, b.Compact(), embedded.ErrDamaged)
	clear()

	require.Eventually(t, func() bool { return b.Compact() == nil }, 20*time.Second, 50*time.Millisecond)
	require.Equal(t, address, b.Config().Brokers)
	require.NoError(t, b.Refusing())
	c, err := bus.Open(b.Config())
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	require.Len(t, readAll(t, c, bus.Models), 1)
	require.NoError(t, c.Write(t.Context(), bus.Models, []ingest.Outgoing{put("k2", "v")}))
	require.Len(t, readAll(t, c, bus.Models), 2)
}

// W130: after a clean stop a log is appended to, and compacted to its previous size. When the process is killed then,
// the log does not end where it did at the stop.
func TestAKilledBrokerDoesNotEndWhereItStoppedBefore(t *testing.T) {
	dir, copied := t.TempDir(), t.TempDir()
	write := func(c *bus.Client, keys ...string) {
		for _, key := range keys {
			require.NoError(t, c.Write(t.Context(), bus.Models, []ingest.Outgoing{put(key, "v")}))
		}
	}
	b, c := start(t, dir, embedded.Config{CleanOnDemand: true})
	write(c, "a", "k", "k")
	require.NoError(t, c.Close())
	require.NoError(t, b.Close())
	b, c = start(t, dir, embedded.Config{CleanOnDemand: true})
	write(c, "k", "k")
	require.NoError(t, b.Compact())
	require.NoError(t, os.CopyFS(filepath.Join(copied, "killed"), os.DirFS(dir)))

	_, c = start(t, filepath.Join(copied, "killed"), embedded.Config{CleanOnDemand: true})
	ends, err := c.EndOffsets(t.Context(), bus.Models)
	require.NoError(t, err)
	require.Contains(t, ends, int64(5))
}

// W125: while a partition has lost its files, reading them would give a part of the records as if it was all. It waits.
func TestSegmentsOfABrokerThatIsDownAreAwaited(t *testing.T) {
	dir := t.TempDir()
	b, clear := obstructed(t, dir)
	probe := filepath.Join(dir, "probe")
	require.NoError(t, os.MkdirAll(filepath.Join(probe, "x"), 0o700)) // the disk takes no writes
	require.ErrorIs(t, b.Compact(), embedded.ErrDamaged)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	records := 0
	read := func(ctx context.Context) error {
		return b.EachSegment(ctx, "lethe."+string(bus.Models), func(s *embedded.Segment) error {
			return s.Records(func(ingest.Record) error { records++; return nil })
		})
	}
	require.ErrorIs(t, read(ctx), context.DeadlineExceeded)
	require.Zero(t, records)
	clear()
	require.NoError(t, os.RemoveAll(probe))
	require.NoError(t, read(t.Context()))
	require.Equal(t, 4, records)
}

// A broker can be closed while it waits for its log to be put back.
func TestABrokerThatIsDownCloses(t *testing.T) {
	dir := t.TempDir()
	b, clear := obstructed(t, dir)
	require.ErrorIs(t, b.Compact(), embedded.ErrDamaged)
	require.NoError(t, b.Close())
	require.ErrorIs(t, b.Compact(), embedded.ErrClosed)
	clear()
	_, c := start(t, dir, embedded.Config{CleanOnDemand: true})
	require.Len(t, readAll(t, c, bus.Models), 1)
}
