package train

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/swapstore"
	"lethe/metrics/events"
	"lethe/pipeline/wire"
	"lethe/trainer/kernels"
)

// The published models are what training the slices gives, whatever the number
// of workers (I4).
func TestModelsArePureFunctionsOfTheSlices(t *testing.T) {
	for _, workers := range []int{1, 4} {
		client := cluster(t)
		plans := []plan{planOf(0, 4), planOf(1, 4), planOf(2, 4)}
		h := &heard{}
		o := optionsFor(t.TempDir(), client)
		o.Workers, o.Listener = workers, h.listener()
		stop := running(t, o)
		for _, p := range plans {
			publish(t, client, p.messages(1)...)
		}
		await(t, client, o.Trainer, o.Kernels, plans...)
		require.NoError(t, stop())
		require.Len(t, h.trained, 12)
		for _, e := range h.trained {
			require.Equal(t, events.Update, e.Reason)
		}
		require.Equal(t, string(bus.Slices), h.lag[len(h.lag)-1].Topic)
		require.Zero(t, h.lag[len(h.lag)-1].Records, "all has been consumed")
	}
}

// A replaced slice is trained away from its timestep on; the models before it
// and the other shards stay as they are and are not published again.
func TestReplacedSliceReplaysItsShardFromThere(t *testing.T) {
	client := cluster(t)
	plans := []plan{planOf(0, 4), planOf(1, 4), planOf(2, 4)}
	h := &heard{}
	o := optionsFor(t.TempDir(), client)
	o.Listener = h.listener()
	stop := running(t, o)
	for _, p := range plans {
		publish(t, client, p.messages(1)...)
	}
	await(t, client, o.Trainer, o.Kernels, plans...)
	plans[1].slices[2] = sliceOf(1, 3, 2, 77)
	publish(t, client, plans[1].messages(2)[2])
	await(t, client, o.Trainer, o.Kernels, plans...)
	require.NoError(t, stop())
	newest, times := models(t, client)
	for key, n := range times {
		replayed := key.Shard == 1 && key.Timestep >= 3
		require.Equal(t, replayed, n == 2, "%s was published %d times", key, n)
		require.Equal(t, replayed && key.Timestep == 3, newest[key].Revision == 2, "revision of %s", key)
	}
	unlearned := 0
	for _, e := range h.trained {
		if e.Reason == events.Unlearn {
			unlearned++
		}
	}
	require.Equal(t, 2, unlearned)
}

// After compaction a replaced slice stands behind its successors. A column that
// is rebuilt from the topic must not train across the gap.
func TestRebuiltColumnWaitsForTheSliceInTheGap(t *testing.T) {
	client := cluster(t)
	p := planOf(0, 5)
	messages := p.messages(1)
	replaced := messages[1]
	replaced.Revision = 2
	o := optionsFor(t.TempDir(), client)
	o.Shards = 1
	running(t, o)
	publish(t, client, messages[0], messages[2], messages[3], messages[4])
	await(t, client, o.Trainer, o.Kernels, plan{shard: 0, slices: p.slices[:1]})
	publish(t, client, replaced)
	await(t, client, o.Trainer, o.Kernels, p)
}

// Killed after a checkpoint was stored and before it was published, the role
// publishes it at the next start, and does not train it again.
func TestStoredCheckpointIsPublishedAfterACrash(t *testing.T) {
	client, dir := cluster(t), t.TempDir()
	p := planOf(0, 2)
	publish(t, client, p.messages(1)...)

	nowhere, err := bus.Open(bus.Config{
		Brokers: []string{"127.0.0.1:1"}, DialTimeout: time.Second, RequestTimeout: time.Second, WriteTimeout: 100 * time.Millisecond,
	})
	require.NoError(t, err)
	o := optionsFor(dir, nowhere)
	o.Shards = 1
	r, err := New(o)
	require.NoError(t, err)
	r.modelPartitions = 2
	for i, m := range p.messages(1) {
		require.NoError(t, r.columns[0].accept(t.Context(), wire.Received{Message: m, Next: int64(i + 1)}))
	}
	require.ErrorIs(t, r.catchUpOne(t.Context(), r.columns[0]), bus.ErrBrokerUnreachable)
	unsent, err := r.columns[0].unsent()
	require.NoError(t, err)
	require.Equal(t, []lethe.Timestep{1}, unsent)
	require.NoError(t, r.Close())
	require.NoError(t, nowhere.Close())

	h := &heard{}
	o = optionsFor(dir, client)
	o.Shards, o.Listener = 1, h.listener()
	stop := running(t, o)
	await(t, client, o.Trainer, o.Kernels, p)
	require.NoError(t, stop())
	require.Len(t, h.trained, 1, "the stored checkpoint was trained again")
	_, times := models(t, client)
	require.Equal(t, 1, times[wire.Key{Kind: wire.KindModel, Shard: 0, Timestep: 1}])
}

// Restarted, the role goes on where it was; removed, a shard's folder is
// rebuilt from the topic to the same bytes.
func TestRestartGoesOnAndRemovedFolderIsRebuilt(t *testing.T) {
	client, dir := cluster(t), t.TempDir()
	h := &heard{}
	o := optionsFor(dir, client)
	o.Listener = h.listener()
	before := []plan{planOf(0, 2), planOf(1, 2), planOf(2, 2)}
	after := []plan{planOf(0, 3), planOf(1, 3), planOf(2, 3)}
	stop := running(t, o)
	for _, p := range before {
		publish(t, client, p.messages(1)...)
	}
	await(t, client, o.Trainer, o.Kernels, before...)
	require.NoError(t, stop())
	require.NoError(t, os.RemoveAll(shardDir(dir, 0)))
	h.trained = nil
	stop = running(t, o)
	for _, p := range after {
		publish(t, client, p.messages(1)[2])
	}
	await(t, client, o.Trainer, o.Kernels, after...)
	require.NoError(t, stop())
	require.Len(t, h.trained, 5, "shards 1 and 2 train timestep 3 only, shard 0 all three")
}

// Checkpoints of other options or kernels cannot be continued: the shards are
// trained anew from their slices.
func TestIncompatibleCheckpointsAreTrainedAnew(t *testing.T) {
	portable, err := kernels.Named(kernels.PortableName)
	require.NoError(t, err)
	client, dir := cluster(t), t.TempDir()
	p := planOf(0, 3)
	o := optionsFor(dir, client)
	o.Shards, o.Kernels = 1, portable
	stop := running(t, o)
	publish(t, client, p.messages(1)...)
	await(t, client, o.Trainer, portable, p)
	require.NoError(t, stop())

	o.Trainer.Hidden = 6
	stop = running(t, o)
	await(t, client, o.Trainer, portable, p)
	require.NoError(t, stop())

	if o.Kernels = kernels.Default(); o.Kernels.Name() == portable.Name() {
		t.Log("this processor runs the portable kernels only; their change is not tested")
		return
	}
	stop = running(t, o)
	await(t, client, o.Trainer, o.Kernels, p)
	require.NoError(t, stop())
}

func TestAnotherNumberOfShardsIsNamed(t *testing.T) {
	client, dir := cluster(t), t.TempDir()
	o := optionsFor(dir, client)
	r, err := New(o)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	o.Shards = 2
	r, err = New(o)
	require.NoError(t, err, "a third shard without a slice is left from a start that was refused")
	require.NoError(t, r.Close())
	o.Shards = 3
	r, err = New(o)
	require.NoError(t, err)
	require.NoError(t, r.columns[2].accept(t.Context(), wire.Received{Message: planOf(2, 1).messages(1)[0]}))
	require.NoError(t, r.Close())
	o.Shards = 2
	_, err = New(o)
	require.ErrorContains(t, err, "holds slices of shard 2, but partition.shards is 2 (give the number")

	o.Dir = t.TempDir()
	r, err = New(o)
	require.NoError(t, err)
	publish(t, client, planOf(2, 1).messages(1)...)
	require.ErrorContains(t, r.Run(t.Context()), "slice of shard 2 at timestep 1, but partition.shards is 2 (give the number")
	require.NoError(t, r.Close())
}

func TestCorruptCheckpointNamesTheFolderAndTheRemedy(t *testing.T) {
	dir := t.TempDir()
	store, err := swapstore.Open(shardDir(dir, 0), swapstore.Options{})
	require.NoError(t, err)
	require.NoError(t, store.Apply(func(w swapstore.Writer) error {
		return w.Set(timestepKey(checkpointPrefix, 1), []byte("not a checkpoint"))
	}))
	require.NoError(t, store.Close())
	_, err = New(optionsFor(dir, cluster(t)))
	require.ErrorContains(t, err, "remove the folder "+filepath.Join(dir, "shard-0000")+" and start again")
}

// sendOrder asks for an erasure that replaced one slice of shard 0.
func sendOrder(t *testing.T, client *bus.Client, attempt int, at lethe.Timestep) {
	t.Helper()
	order := &wire.Order{RequestID: "gdpr-1", Attempt: attempt, Phase: wire.PhasePurge, Steps: []wire.OrderStep{
		{Timestep: at, Revision: 2, Settled: true, Shards: []lethe.ShardID{0}},
	}}
	rec, err := order.Record()
	require.NoError(t, err)
	require.NoError(t, client.Write(t.Context(), bus.ErasureStatus, []ingest.Outgoing{rec}))
}

// acknowledged reads the attempts that were acknowledged, by step.
func acknowledged(t *testing.T, client *bus.Client) map[deletions.Step][]int {
	t.Helper()
	out := make(map[deletions.Step][]int)
	require.NoError(t, client.ReadAll(t.Context(), bus.ErasureStatus, func(rec ingest.Record) error {
		n, err := wire.ParseNotice(rec)
		if n.Ack != nil {
			out[n.Ack.Step] = append(out[n.Ack.Step], n.Ack.Attempt)
		}
		return err
	}))
	return out
}

func awaitAcks(t *testing.T, client *bus.Client, attempts ...int) {
	t.Helper()
	require.Eventually(t, func() bool { return len(acknowledged(t, client)[deletions.StepScanned]) >= len(attempts) }, 60*time.Second, 20*time.Millisecond)
	require.Equal(t, map[deletions.Step][]int{deletions.StepPurged: attempts, deletions.StepScanned: attempts}, acknowledged(t, client))
}

// The role acknowledges an erasure once its slices are replaced, not before,
// and once for each attempt.
func TestErasureIsAcknowledgedOnceItsSlicesAreReplaced(t *testing.T) {
	client := cluster(t)
	p := planOf(0, 3)
	o := optionsFor(t.TempDir(), client)
	o.Shards = 1
	stop := running(t, o)
	publish(t, client, p.messages(1)...)
	await(t, client, o.Trainer, o.Kernels, p)
	sendOrder(t, client, 0, 2)
	time.Sleep(300 * time.Millisecond)
	require.Empty(t, acknowledged(t, client), "the slice has not been replaced yet")
	p.slices[1] = sliceOf(0, 2, 1, 9)
	publish(t, client, p.messages(2)[1])
	await(t, client, o.Trainer, o.Kernels, p)
	awaitAcks(t, client, 0)
	sendOrder(t, client, 1, 2)
	awaitAcks(t, client, 0, 1)
	require.NoError(t, stop())
}

// A column that is being rebuilt has the new slice before it can train on it.
func TestErasureIsNotAcknowledgedBeforeTraining(t *testing.T) {
	client := cluster(t)
	p := planOf(0, 3)
	o := optionsFor(t.TempDir(), client)
	o.Shards = 1
	stop := running(t, o)
	publish(t, client, p.messages(1)[0], p.messages(2)[2])
	sendOrder(t, client, 0, 3)
	time.Sleep(300 * time.Millisecond)
	require.Empty(t, acknowledged(t, client), "timestep 2 is missing, so 3 cannot have been trained on")
	publish(t, client, p.messages(1)[1])
	await(t, client, o.Trainer, o.Kernels, p)
	awaitAcks(t, client, 0)
	require.NoError(t, stop())
}
