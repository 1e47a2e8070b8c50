package embedded_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/ingest/embedded"
)

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
