package train

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/metrics/events"
	"lethe/pipeline/wire"
	"lethe/scoring/ensemble"
	"lethe/trainer"
)

// Models of groups, and the meta-model over them, are what their slices give. Of those that
// are fitted anew only the ones that score may ask for are kept and made again: after a
// replaced slice and after a restart; a score that begins anew gets all of them.
func TestModelsOfGroupsAreKeptAsLongAsTheyAreNeeded(t *testing.T) {
	topics := topics()
	o := mixed(t, t.TempDir(), topics)
	h := &heard{}
	o.Listener = events.Tee(h.listener())
	plans := plansOf(4)
	stop := running(t, o)
	publishAll(t, topics, plans)
	awaitModels(t, topics, whole(t, o, lethe.NoTimestep, plans...))
	say(t, topics, 3)
	awaitModels(t, topics, whole(t, o, 3, plans...))

	h.mu.Lock()
	h.trained = nil
	h.mu.Unlock()
	plans[2].slices[1] = sliceOf(2, 2, 1, 77)
	publish(t, topics, plans[2].messages(2)[1])
	want := whole(t, o, 3, plans...)
	require.Eventually(t, func() bool {
		return payloads(t, topics)[wire.Key{Kind: wire.KindModel, Shard: 8, Timestep: 4}] ==
			want[wire.Key{Kind: wire.KindModel, Shard: 8, Timestep: 4}]
	}, time.Minute, 5*time.Millisecond)
	awaitModels(t, topics, want)
	require.NoError(t, stop())
	require.Len(t, h.trained, 4+2+2, "the network from the start, for 1 was thinned out; two others from 3 on")

	h.trained = nil
	stop = running(t, o)
	awaitModels(t, topics, want)
	require.NoError(t, stop())
	require.Empty(t, h.trained, "after a restart nothing is trained again")

	running(t, o)
	say(t, topics, lethe.NoTimestep)
	awaitModels(t, topics, whole(t, o, lethe.NoTimestep, plans...))
}

// A group that still waits for a slice of the timestep that is served made the model of the one
// before, which is dropped as nobody needs it, and made it again, for ever.
func TestAGroupWaitsForTheSlicesOfWhatIsServed(t *testing.T) {
	topics := topics()
	o := mixed(t, t.TempDir(), topics)
	ctx, stop := context.WithCancel(t.Context())
	var trained atomic.Int64
	o.Listener = events.Tee(events.On(func(events.ShardTrained) {
		if trained.Add(1) == 100 { // all there is comes to 32
			stop()
		}
	}))
	r := begin(t, o)
	r.ctx = ctx
	plans := plansOf(4)
	say(t, topics, 4)
	for i, p := range plans {
		messages := p.messages(1)
		if i == 2 {
			messages = messages[:3]
		}
		publish(t, topics, messages...)
	}
	r.rest()
	publish(t, topics, plans[2].messages(1)[3])
	r.rest()
	require.Equal(t, whole(t, o, 4, plans...), payloads(t, topics))
	r.end()
}

// Who comes to lead deletes what its forerunner had published of a timestep that is gone only once it
// knows that it is: the slices that follow it name another one before them by then. As it went shard by
// shard, a group learnt from it and found it in one of its shards alone, which ended the role.
func TestATimestepGoesShardByShard(t *testing.T) {
	topics := topics()
	o := mixed(t, t.TempDir(), topics)
	plans := plansOf(2)
	running(t, o)
	publishAll(t, topics, plans)
	say(t, topics, 2)
	awaitModels(t, topics, whole(t, o, 2, plans...))
	pair := wire.Key{Kind: wire.KindModel, Shard: 3, Timestep: 2}
	if len(o.Layout.ShardsOf(pair.Shard)) != 2 {
		pair.Shard++
	}
	first, second := o.Layout.ShardsOf(pair.Shard)[0], o.Layout.ShardsOf(pair.Shard)[1]
	publish(t, topics, gone(second, 1))
	for i := range plans {
		plans[i].slices = []*lethe.Slice{sliceOf(lethe.ShardID(i), 2, lethe.NoTimestep, 0)}
		publish(t, topics, plans[i].messages(2)...)
	}
	want := whole(t, o, 2, plans...)
	learnt := func() bool { return payloads(t, topics)[pair] == want[pair] }
	require.Eventually(t, learnt, time.Minute, 5*time.Millisecond)
	publish(t, topics, gone(first, 1), gone(3-first-second, 1))
	awaitModels(t, topics, want)
}

// An erasure is acknowledged when all that learnt from its slices has learnt anew.
func TestErasureWaitsForGroupsAndMetaModel(t *testing.T) {
	topics := topics()
	o := mixed(t, t.TempDir(), topics)
	plans := plansOf(3)
	running(t, o)
	publishAll(t, topics, plans)
	say(t, topics, 3)
	awaitModels(t, topics, whole(t, o, 3, plans...))
	plans[0].slices[1] = sliceOf(0, 2, 1, 9)
	publish(t, topics, plans[0].messages(2)[1])
	sendOrder(t, topics, 0, 2)
	require.Eventually(t, func() bool { return len(acknowledged(t, topics)) == 2 }, time.Minute, time.Millisecond)
	awaitAcks(t, topics, 0)
	require.Equal(t, whole(t, o, 3, plans...), payloads(t, topics))
}

// Models that the ensemble no longer has are deleted from their topic: an erasure would
// not replace them.
func TestModelsOfAnotherLayoutAreDeleted(t *testing.T) {
	topics, dir := topics(), t.TempDir()
	o := mixed(t, dir, topics)
	plans := plansOf(2)
	stop := running(t, o)
	publishAll(t, topics, plans)
	all := whole(t, o, lethe.NoTimestep, plans...)
	awaitModels(t, topics, all)
	require.NoError(t, stop())

	trees, err := ensemble.ParseComponent("trees:3:rounds=4:leaves=3:rows=1", 3, trainer.Defaults())
	require.NoError(t, err)
	other := mixed(t, dir, topics)
	other.Layout.Components[1] = trees
	stop = running(t, other)
	awaitModels(t, topics, whole(t, other, lethe.NoTimestep, plans...))
	require.NoError(t, stop())

	single := mixed(t, dir, topics)
	single.Layout.Components, single.Meta = single.Layout.Components[:1], nil
	stop = running(t, single)
	require.Eventually(t, func() bool { return len(payloads(t, topics)) == 6 }, time.Minute, 5*time.Millisecond)
	require.NoError(t, stop())
	running(t, o)
	awaitModels(t, topics, all)
}

// A model that is fitted anew was unlearnt through timesteps that score needs no more
// before it was fitted again: then it is deleted from its topic, also by a process that
// begins in between.
func TestUnlearntModelsThatNobodyNeedsAreDeleted(t *testing.T) {
	for _, restarts := range []bool{false, true} {
		topics, dir := topics(), t.TempDir()
		o := mixed(t, dir, topics)
		plans := plansOf(4)
		publishAll(t, topics, plans)
		say(t, topics, 3)
		r := begin(t, o)
		r.rest()
		require.Equal(t, whole(t, o, 3, plans...), payloads(t, topics))

		plans[2].slices[1] = sliceOf(2, 2, 1, 77)
		publish(t, topics, plans[2].messages(2)[1])
		r.read()
		if restarts {
			r.end()
			r = begin(t, o)
		}
		say(t, topics, 4)
		r.rest()
		require.Equal(t, whole(t, o, 4, plans...), payloads(t, topics))
		r.end()
	}
}
