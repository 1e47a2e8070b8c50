package train

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest/bus"
	"lethe/metrics/events"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
)

// opened is a role without topics, which steps when it is told to.
type opened struct {
	t *testing.T
	*logic
}

func openedWith(t *testing.T, o Options) opened {
	t.Helper()
	l, err := open(o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	_, err = l.Resume(bus.TopicPartition{Topic: bus.Slices}, 1)
	require.NoError(t, err)
	return opened{t, l}
}

// step returns how many messages the role publishes, and notes that they were.
func (o opened) step(in role.Input) int {
	o.t.Helper()
	out, err := o.Step(o.t.Context(), time.Now, in)
	require.NoError(o.t, err)
	if out.Note != nil {
		require.NoError(o.t, out.Note())
	}
	return len(out.Messages)
}

// slicesOf are the first slices of some shards, the last of them at a position of a partition that goes on to an end.
func slicesOf(next, end int64, of ...lethe.ShardID) role.Input {
	in := role.Input{Batch: bus.Batch{Source: bus.TopicPartition{Topic: bus.Slices}, Next: next, End: end}}
	for _, shard := range of {
		in.Messages = append(in.Messages, wire.Received{Message: planOf(shard, 1).messages(1)[0]})
	}
	return in
}

// A process of one core trains the next model while what it has learnt is made durable.
func TestAModelIsTrainedWhileAnotherIsStored(t *testing.T) {
	const patience = 10 * time.Second
	var trained atomic.Int64
	o := optionsFor("train", topics())
	o.Workers = 1
	o.Listener = events.Tee(events.On(func(events.ShardTrained) { trained.Add(1) }))
	// The disk answers once another model is trained.
	o.FS = errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData {
			for began := time.Now(); trained.Load() == 1 && time.Since(began) < patience; {
				time.Sleep(time.Millisecond)
			}
		}
		return nil
	}))
	began := time.Now()
	require.Equal(t, 3, openedWith(t, o).step(slicesOf(3, 3, 0, 1, 2)))
	require.Less(t, time.Since(began), patience, "no model was trained while the disk was waited for")
}

// Slices that the broker has already are taken before any model is trained, and what they give is published together.
func TestSlicesOnTheirWayAreTakenFirst(t *testing.T) {
	o := openedWith(t, optionsFor(t.TempDir(), topics()))
	require.Zero(t, o.step(slicesOf(1, 2, 0)))
	require.Equal(t, 2, o.step(slicesOf(2, 2, 1)))

	// A partition whose broker is away keeps nobody from training for long.
	require.Zero(t, o.step(slicesOf(3, 4, 2)))
	for range silentTicks - 1 {
		require.Zero(t, o.step(role.Input{Ticked: true}))
	}
	require.Equal(t, 1, o.step(role.Input{Ticked: true}))
}
