package embedded_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/ingest/embedded"
)

// What is read in the files is what a consumer is sent, before and after compactions.
func TestSegmentsHoldWhatAConsumerReads(t *testing.T) {
	dir := t.TempDir()
	b, c := start(t, dir, embedded.Config{CleanOnDemand: true})
	draw := lethe.NewDraw(3, "segments")
	sent := func() (out []string) {
		require.NoError(t, c.ReadAll(t.Context(), bus.Labels, func(rec ingest.Record) error {
			out = append(out, describe(rec))
			return nil
		}))
		return out
	}
	kept := func() (out []string) {
		require.NoError(t, b.EachSegment(t.Context(), c.Name(bus.Labels), func(s *embedded.Segment) error {
			onDisk, err := os.Stat(filepath.Join(dir, filepath.FromSlash(s.Path)))
			require.NoError(t, err)
			require.True(t, os.SameFile(onDisk, s.Info))
			require.EqualValues(t, len(s.Data), onDisk.Size())
			return s.Records(func(rec ingest.Record) error {
				out = append(out, describe(rec))
				return nil
			})
		}))
		return out
	}
	for range 6 {
		var records []ingest.Outgoing
		for range 50 {
			records = append(records, ingest.Outgoing{
				Key: fmt.Appendf(nil, "key-%d", draw.IntN(40)), Value: make([]byte, draw.IntN(3000)),
				Headers: []ingest.Header{{Key: "h", Value: []byte("v")}},
			})
		}
		require.NoError(t, c.Write(t.Context(), bus.Labels, records))
		require.Equal(t, sent(), kept())
		require.NoError(t, b.Compact())
		require.Equal(t, sent(), kept())
	}
	require.NoError(t, b.EachSegment(t.Context(), "unknown", func(*embedded.Segment) error {
		t.Error("a topic that is not there has a file")
		return nil
	}))
}

// A compaction truncates the files that it replaces: it waits for a partition that is being read, of which files would
// be read as empty otherwise.
func TestCompactionWaitsForAPartitionThatIsRead(t *testing.T) {
	const records = 24 // of 1 MB: two files
	b, c := start(t, t.TempDir(), embedded.Config{CleanOnDemand: true})
	for i := range records {
		require.NoError(t, c.Write(t.Context(), bus.Erasures, []ingest.Outgoing{
			{Key: fmt.Appendf(nil, "%d", i), Value: make([]byte, 1_000_000)},
		}))
	}
	compacted := make(chan error, 1)
	files, read := 0, 0
	require.NoError(t, b.EachSegment(t.Context(), c.Name(bus.Erasures), func(s *embedded.Segment) error {
		if files++; files == 1 {
			go func() { compacted <- b.Compact() }()
			time.Sleep(300 * time.Millisecond)
		}
		return s.Records(func(ingest.Record) error { read++; return nil })
	}))
	require.Greater(t, files, 1)
	require.Equal(t, records, read)
	require.NoError(t, <-compacted)
}

func describe(rec ingest.Record) string {
	return fmt.Sprintf("%d@%d %s %d %v %s", rec.Partition, rec.Offset, rec.Key, len(rec.Value), rec.Headers, rec.Time)
}

// A file that is damaged in the middle is no end.
func TestADamagedSegmentIsAnError(t *testing.T) {
	b, c := start(t, t.TempDir(), embedded.Config{CleanOnDemand: true})
	for i := range 3 {
		require.NoError(t, c.Write(t.Context(), bus.Erasures, []ingest.Outgoing{put(fmt.Sprint(i), "value")}))
	}
	require.NoError(t, b.EachSegment(t.Context(), c.Name(bus.Erasures), func(s *embedded.Segment) error {
		s.Data[len(s.Data)/2] ^= 1
		require.ErrorContains(t, s.Records(func(ingest.Record) error { return nil }), "checksum")
		s.Data[len(s.Data)/2] ^= 1
		s.Data = s.Data[:len(s.Data)-1]
		count := 0
		require.NoError(t, s.Records(func(ingest.Record) error { count++; return nil }), "half a batch at the end")
		require.Equal(t, 2, count)
		return nil
	}))
}

func TestWhatACompactionIsWorth(t *testing.T) {
	const mebi = 1 << 20
	for _, c := range []struct {
		name           string
		now, erasures  int64
		left, leftThen int64
		from           int64
		quiet, want    bool
	}{
		{name: "nothing was written", now: 80 * mebi, left: 80 * mebi, quiet: true},
		{name: "a small log", now: 2*mebi + 1, left: 2 * mebi, want: true},
		{name: "somebody waits", now: 80*mebi + 1, erasures: 1, left: 80 * mebi, want: true},
		{name: "erasures of before", now: 80*mebi + 1, erasures: 1, left: 80 * mebi, leftThen: 1},
		{name: "transactions come in", now: 300 * mebi, left: 80 * mebi},
		{name: "three quarters are new", now: 320 * mebi, left: 80 * mebi, want: true},
		{name: "quiet, little is new", now: 88 * mebi, left: 80 * mebi, quiet: true},
		{name: "quiet, a tenth is new", now: 89 * mebi, left: 80 * mebi, quiet: true, want: true},
		{name: "after a start", now: 81 * mebi, from: 80 * mebi},
		{name: "after a start, three quarters are new", now: 320 * mebi, from: 80 * mebi, want: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, embedded.Due(c.now, c.erasures, c.left, c.leftThen, c.from, c.quiet))
		})
	}
}

// A compaction stops the broker. A log that little was added to is compacted for those
// who wait for what was erased: they write markers.
func TestALargeLogIsCompactedForWhoWaits(t *testing.T) {
	dir := t.TempDir()
	b, c := start(t, dir, embedded.Config{CleanInterval: 10 * time.Millisecond})
	records := make([]ingest.Outgoing, 6)
	for i := range records {
		records[i] = ingest.Outgoing{Key: fmt.Appendf(nil, "%d", i), Value: bytes.Repeat([]byte("0123456789"), 100_000)}
	}
	require.NoError(t, c.Write(t.Context(), bus.Transactions, records))
	require.NoError(t, b.Compact())
	require.NoError(t, c.Write(t.Context(), bus.Labels, []ingest.Outgoing{put("canary-key", "canary-value")}))
	require.NoError(t, c.Write(t.Context(), bus.Labels, []ingest.Outgoing{{Key: []byte("canary-key")}}))
	require.NoError(t, c.RollMarkers(t.Context(), bus.Labels, bus.Erasures))
	require.Eventually(t, func() bool { return len(filesWith(t, dir, "canary")) == 0 },
		time.Minute, 20*time.Millisecond)
}
