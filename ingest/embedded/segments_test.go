package embedded_test

import (
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
