package train

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/metrics/events"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
)

// continuing are the options of a model that goes on from the checkpoint before.
func continuing(dir string, topics *roletest.Bus, h *heard) Options {
	o := ofOneShard(dir, topics)
	o.Listener = events.Tee(h.listener())
	return o
}

// Of a model that goes on from the checkpoint before, those are kept that a score waits for, and before these one of
// every eight timesteps. What was thinned out is made again where it is needed: on the way to a slice that was
// replaced, and for a score that begins anew. The bytes are the same, and the log is told once of those that are.
func TestCheckpoints_NoScoreWaits_MilestonesAreKept(t *testing.T) {
	topics, dir := topics(), t.TempDir()
	p := planOf(0, 20)
	h := &heard{}
	options := func() Options { return continuing(dir, topics, h) }
	o := options()
	stop := running(t, o)
	holds := func(want ...lethe.Timestep) {
		t.Helper()
		require.Eventually(t, func() bool { return topics.Idle(1) }, time.Minute, time.Millisecond)
		require.NoError(t, stop())
		kept, err := ReadHistory(o.FS, dir, 0)
		require.NoError(t, err)
		made := p.checkpoints(t, o.Layout.Components[0].Config, o.Kernels)
		got := make([]lethe.Timestep, 0, len(want))
		for at, data := range kept.Learnt[0] {
			got = append(got, at)
			require.Equal(t, made[at], data, "timestep %d", at)
		}
		slices.Sort(got)
		require.Equal(t, want, got)
		stop = running(t, options())
	}
	publish(t, topics, p.messages(1)...)
	await(t, topics, o, p)
	say(t, topics, 20)
	awaitCommitments(t, topics, o.Secret, 1+20)
	holds(8, 16, 20)

	h.mu.Lock()
	h.trained = nil
	h.mu.Unlock()
	p.slices[10] = sliceOf(0, 11, 10, 1)
	publish(t, topics, p.messages(2)[10])
	awaitCommitments(t, topics, o.Secret, 1+20+10)
	holds(8, 16, 20)
	require.Len(t, h.trained, 20-8, "from the milestone before the replaced slice on")

	say(t, topics, lethe.NoTimestep)
	await(t, topics, o, p)
	all := make([]lethe.Timestep, 20)
	for i := range all {
		all[i] = lethe.Timestep(i + 1)
	}
	holds(all...)
}

// awaitCommitments waits until control.v1 has so many.
func awaitCommitments(t *testing.T, topics *roletest.Bus, secret lethe.Secret, n int) {
	t.Helper()
	require.Eventually(t, func() bool { return len(commitments(t, topics, secret)) >= n }, time.Minute,
		5*time.Millisecond)
	require.Len(t, commitments(t, topics, secret), n)
}

// A newer timestep that is gone makes the newest of one that was thinned out.
func TestThinnedCheckpoint_NewestTimestepIsGone_IsMadeAgain(t *testing.T) {
	topics, dir := topics(), t.TempDir()
	p := planOf(0, 12)
	o := ofOneShard(dir, topics)
	running(t, o)
	publish(t, topics, p.messages(1)...)
	await(t, topics, o, p)
	say(t, topics, 12)
	awaitCommitments(t, topics, o.Secret, 1+12)
	newest := wire.Key{Kind: wire.KindSlice, Timestep: 12}
	publish(t, topics, wire.Message{Key: newest, Deleted: true})
	p.slices = p.slices[:11]
	want := wanted(t, o, p)
	last := wire.Key{Kind: wire.KindModel, Timestep: 11}
	require.Eventually(t, func() bool { return payloads(t, topics)[last] == want[last] }, time.Minute, time.Millisecond)
}

// The journal is read from its start whenever the role is opened. Entries that name earlier timesteps, read one by one,
// make no model needed again.
func TestThinnedCheckpoint_JournalIsReadAgain_StaysThinned(t *testing.T) {
	topics, dir := topics(), t.TempDir()
	p := planOf(0, 20)
	h := &heard{}
	options := func() Options { return continuing(dir, topics, h) }
	stop := running(t, options())
	publish(t, topics, p.messages(1)...)
	await(t, topics, options(), p)
	say(t, topics, 3)
	say(t, topics, 20)
	awaitCommitments(t, topics, options().Secret, 1+20)
	require.Eventually(t, func() bool { return topics.Idle(1) }, time.Minute, time.Millisecond)
	require.NoError(t, stop())
	h.trained = nil

	r, err := New(options())
	require.NoError(t, err)
	opened, err := r.Open(t.Context())
	require.NoError(t, err)
	require.NoError(t, opened.Begin(t.Context()))
	for _, rec := range roletest.Records(t, topics, bus.Journal) {
		source := bus.TopicPartition{Topic: bus.Journal, Partition: rec.Partition}
		batch := bus.Batch{Source: source, Records: []ingest.Record{rec}, Next: rec.Offset + 1, End: rec.Offset + 1}
		require.NoError(t, r.Arrived(t.Context(), batch, false))
	}
	require.NoError(t, r.Close())
	require.Empty(t, h.trained)
	kept, err := ReadHistory(options().FS, dir, 0)
	require.NoError(t, err)
	require.ElementsMatch(t, []lethe.Timestep{8, 16, 20}, slices.Collect(maps.Keys(kept.Learnt[0])))
}
