package train

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe/ingest/bus"
	"lethe/internal/swapstore"
	"lethe/internal/testbroker"
	"lethe/internal/timestepkey"
	"lethe/metrics/events"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
	"lethe/scoring/ensemble"
	"lethe/trainer/kernels"
)

// The published models are what training the slices gives, whatever the number
// of workers (I4).
func TestModelsArePureFunctionsOfTheSlices(t *testing.T) {
	for _, workers := range []int{1, 4} {
		topics := topics()
		plans := plansOf(4)
		h := &heard{}
		o := optionsFor(t.TempDir(), topics)
		o.Workers, o.Listener = workers, events.Tee(h.listener())
		stop := running(t, o)
		publishAll(t, topics, plans)
		await(t, topics, o, plans...)
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
	topics := topics()
	plans := plansOf(4)
	h := &heard{}
	o := optionsFor(t.TempDir(), topics)
	o.Listener = events.Tee(h.listener())
	stop := running(t, o)
	publishAll(t, topics, plans)
	await(t, topics, o, plans...)
	plans[1].slices[2] = sliceOf(1, 3, 2, 77)
	publish(t, topics, plans[1].messages(2)[2])
	await(t, topics, o, plans...)
	require.NoError(t, stop())
	newest, times := models(t, topics)
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
	topics := topics()
	p := planOf(0, 5)
	messages := p.messages(1)
	replaced := messages[1]
	replaced.Revision = 2
	o := ofOneShard(t.TempDir(), topics)
	running(t, o)
	publish(t, topics, messages[0], messages[2], messages[3], messages[4])
	await(t, topics, o, plan{shard: 0, slices: p.slices[:1]})
	publish(t, topics, replaced)
	await(t, topics, o, p)
}

// Killed after a checkpoint was stored and before it was published, the role
// publishes it at the next start, and does not train it again.
func TestStoredCheckpointIsPublishedAfterACrash(t *testing.T) {
	topics, dir := topics(), t.TempDir()
	p := planOf(0, 2)
	messages := p.messages(1)
	publish(t, topics, messages[0])

	killed := errors.New("killed")
	topics.Refuse(killed)
	o := ofOneShard(dir, topics)
	r, err := New(o)
	require.NoError(t, err)
	require.ErrorIs(t, r.Run(t.Context()), killed)
	require.NoError(t, r.Close())
	topics.Refuse(nil)

	h := &heard{}
	o.Listener = events.Tee(h.listener())
	stop := running(t, o)
	publish(t, topics, messages[1])
	await(t, topics, o, p)
	require.NoError(t, stop())
	require.Len(t, h.trained, 1, "the stored checkpoint was trained again")
	_, times := models(t, topics)
	require.Equal(t, 1, times[wire.Key{Kind: wire.KindModel, Shard: 0, Timestep: 1}])
}

// Killed after the slice of the newest timestep was removed and before its model was deleted, the role deletes it at
// the next start: that its slice is not there any more tells.
func TestTheModelOfATimestepThatIsGoneIsDeletedAfterACrash(t *testing.T) {
	topics, killed := topics(), errors.New("killed")
	p := planOf(0, 2)
	o := ofOneShard(t.TempDir(), topics)
	stop := running(t, o)
	publish(t, topics, p.messages(1)...)
	await(t, topics, o, p)
	require.NoError(t, stop())

	publish(t, topics, gone(0, 2))
	topics.Refuse(killed)
	r, err := New(o)
	require.NoError(t, err)
	require.ErrorIs(t, r.Run(t.Context()), killed)
	require.NoError(t, r.Close())
	topics.Refuse(nil)
	p.slices = p.slices[:1]
	running(t, o)
	await(t, topics, o, p)
}

// Restarted, the role goes on where it was; removed, a shard's folder is
// rebuilt from the topic to the same bytes.
func TestRestartGoesOnAndRemovedFolderIsRebuilt(t *testing.T) {
	topics, dir := topics(), t.TempDir()
	h := &heard{}
	o := optionsFor(dir, topics)
	o.Listener = events.Tee(h.listener())
	before := plansOf(2)
	after := plansOf(3)
	stop := running(t, o)
	publishAll(t, topics, before)
	await(t, topics, o, before...)
	require.NoError(t, stop())
	require.NoError(t, os.RemoveAll(shardDir(dir, 0)))
	h.trained = nil
	stop = running(t, o)
	for _, p := range after {
		publish(t, topics, p.messages(1)[2])
	}
	await(t, topics, o, after...)
	require.NoError(t, stop())
	require.Len(t, h.trained, 5, "shards 1 and 2 train timestep 3 only, shard 0 all three")
}

// Checkpoints of other options or kernels cannot be continued: the shards are
// trained anew from their slices.
func TestIncompatibleCheckpointsAreTrainedAnew(t *testing.T) {
	portable, err := kernels.Named(kernels.PortableName)
	require.NoError(t, err)
	topics, dir := topics(), t.TempDir()
	p := planOf(0, 3)
	o := optionsFor(dir, topics)
	o.Layout, o.Kernels = ensemble.PerShard(smallModel(), 1), portable
	stop := running(t, o)
	publish(t, topics, p.messages(1)...)
	await(t, topics, o, p)
	require.NoError(t, stop())

	o.Layout.Components[0].Config.Hidden = 6
	stop = running(t, o)
	await(t, topics, o, p)
	require.NoError(t, stop())

	if o.Kernels = kernels.Default(); o.Kernels.Name == portable.Name {
		t.Log("this processor runs the portable kernels only; their change is not tested")
		return
	}
	running(t, o)
	await(t, topics, o, p)
}

func TestAnotherNumberOfShardsIsNamed(t *testing.T) {
	topics, dir := topics(), t.TempDir()
	o := optionsFor(dir, topics)
	r, err := New(o)
	require.NoError(t, err)
	require.NoError(t, r.Close())
	o.Layout = ensemble.PerShard(smallModel(), 2)
	r, err = New(o)
	require.NoError(t, err, "a third shard without a slice is left from a start that was refused")
	require.NoError(t, r.Close())
	o.Layout = ensemble.PerShard(smallModel(), 3)
	r, err = New(o)
	require.NoError(t, err)
	in := role.Input{Messages: []wire.Received{{Message: planOf(2, 1).messages(1)[0]}}}
	require.NoError(t, r.Feed(t.Context(), in))
	require.NoError(t, r.Close())
	o.Layout = ensemble.PerShard(smallModel(), 2)
	_, err = New(o)
	require.ErrorContains(t, err, "holds slices of shard 2, but partition.shards is 2 (give the number")

	o.Dir = t.TempDir()
	missed := 0
	o.Listener = events.On(func(events.RecordsMissed) { missed++ })
	r, err = New(o)
	require.NoError(t, err)
	require.NoError(t, r.Feed(t.Context(), in), "nobody with these settings wrote it")
	require.Equal(t, 1, missed)
	require.NoError(t, r.Close())
}

func TestCorruptCheckpointNamesTheFolderAndTheRemedy(t *testing.T) {
	dir := t.TempDir()
	r, err := New(optionsFor(dir, topics()))
	require.NoError(t, err)
	require.NoError(t, r.Close())
	store, err := openStore(vfs.Default, shardDir(dir, 0))
	require.NoError(t, err)
	require.NoError(t, store.Apply(func(w swapstore.Writer) error {
		w.Set(timestepkey.New(checkpointPrefix, 1), []byte("not a checkpoint"))
		return nil
	}))
	require.NoError(t, store.Close())
	_, err = New(optionsFor(dir, topics()))
	require.ErrorContains(t, err, "remove the folder "+filepath.Join(dir, "shard-0000")+" and start again")
}

// Acknowledgements name the data directory: there is none to take instead.
func TestTheIdentityIsRequired(t *testing.T) {
	o := optionsFor(t.TempDir(), topics())
	require.NoError(t, o.Validate())
	o.Instance = ""
	require.ErrorContains(t, o.Validate(), `instance is ""`)
}

// Over a broker the role does what it does over topics in memory.
func TestModelsOverABroker(t *testing.T) {
	_, client := testbroker.Start(t, map[bus.Topic]int{bus.Slices: 2, bus.Models: 2})
	o := optionsFor(t.TempDir(), role.Kafka{Client: client})
	plans := plansOf(3)
	publishAll(t, client, plans)
	stop := running(t, o)
	require.Eventually(t, func() bool { return len(payloads(t, client)) == 9 }, time.Minute, 20*time.Millisecond)
	require.NoError(t, stop())
	require.Equal(t, wanted(t, o, plans...), payloads(t, client))
}
