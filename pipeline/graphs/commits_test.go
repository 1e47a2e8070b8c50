package graphs

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"

	"lethe/ingest/bus"
	"lethe/metrics/events"
	"lethe/pipeline/role"
)

// While the disk is busy with a batch the next ones are taken, and of none it is said that it was consumed before it is
// durable.
func TestConsumedIsWhatIsDurable(t *testing.T) {
	d := deploy(t)
	o := d.options(t.TempDir())
	var busy atomic.Bool
	held := make(chan struct{})
	release := sync.OnceFunc(func() { close(held) })
	defer release()
	o.FS = errorfs.Wrap(vfs.Default, errorfs.InjectorFunc(func(op errorfs.Op) error {
		synced := op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData
		if synced && busy.Load() && strings.Contains(op.Path, "staging") && strings.HasSuffix(op.Path, ".log") {
			<-held
		}
		return nil
	}))
	var taken atomic.Int64
	o.Listener = events.Listener{RecordsConsumed: func(e events.RecordsConsumed) { taken.Add(int64(e.Count)) }}
	r, err := New(d.Context(), o)
	require.NoError(t, err)
	d.start(r)
	d.pinned(0, 1, 1)
	first, second := bus.TopicPartition{Topic: bus.Transactions}, bus.TopicPartition{Topic: bus.Transactions, Partition: 1}
	d.until(r, "the first is taken", func(s *role.Status) bool { return s.Consumed[first] == 1 })

	busy.Store(true)
	for n, p := range []int{1, 0, 1} {
		d.pinned(p, 2, 2)
		require.Eventually(t, func() bool { return taken.Load() == int64(2+n) }, 30*time.Second, time.Millisecond)
		consumed := r.Status().Consumed
		require.EqualValues(t, 1, consumed[first])
		require.Zero(t, consumed[second])
	}
	release()
	d.until(r, "all are durable", func(s *role.Status) bool { return s.Consumed[first] == 2 && s.Consumed[second] == 2 })
}
