package snapshot_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lethe"
	"lethe/canonical"
	"lethe/snapshot"
)

// run drives a store through logs in an order of its own.
type run struct {
	rt    *rapid.T
	logs  *logs
	disk  *crashDisk
	store *snapshot.Store
	// dead are the dead letters.
	dead deadLetters
	// ahead are the places of what was refused at once as too far ahead.
	ahead map[string]bool
	// closing, if not nil, is begun and not finished, of a timestep.
	closing   *snapshot.Closing
	closingAt lethe.Timestep
}

func (r *run) open() {
	o := r.logs.options
	o.FS = r.disk.fs()
	store, err := snapshot.Open("data", o)
	require.NoError(r.rt, err)
	r.store, r.closing = store, nil
	snapshot.LearnAtOnce(store, rapid.IntRange(1, 9).Draw(r.rt, "learns"))
}

// close closes a timestep, at once or with whatever comes meanwhile.
func (r *run) close(ctx context.Context, t lethe.Timestep) (err error) {
	if rapid.Bool().Draw(r.rt, "at once") {
		return snapshot.CloseTimestep(ctx, r.store, t)
	}
	if r.closing, err = r.store.BeginClosing(t); r.closing != nil && rapid.Bool().Draw(r.rt, "made") {
		r.closing.Make(ctx)
	}
	r.closingAt = t
	return err
}

// finish finishes what was begun to be closed.
func (r *run) finish() {
	require.NoError(r.rt, r.closing.Finish(context.Background()))
	r.closing = nil
}

// consume takes a batch of a random partition, now and then from further back
// than where it was left off. It reports whether there was anything new.
func (r *run) consume() bool {
	p := rapid.IntRange(0, len(r.logs.transactions)+len(r.logs.labels)-1).Draw(r.rt, "partition")
	source := snapshot.Source{Stream: snapshot.Transactions, Topic: transactionsTopic, Partition: p}
	log := r.logs.transactions[min(p, len(r.logs.transactions)-1)]
	if p >= len(r.logs.transactions) {
		source = snapshot.Source{Stream: snapshot.Labels, Topic: labelsTopic, Partition: p - len(r.logs.transactions)}
		log = r.logs.labels[source.Partition]
	}
	offset := int(r.store.Offsets()[snapshot.TopicPartition{Topic: source.Topic, Partition: source.Partition}])
	end := min(len(log), offset+rapid.IntRange(0, 12).Draw(r.rt, "size"))
	start := max(0, offset-max(0, rapid.IntRange(-4, 4).Draw(r.rt, "again")))
	if r.closing != nil && source.Stream == snapshot.Transactions && slices.ContainsFunc(log[start:max(start, end)],
		func(l logged) bool { return l.timestep == r.closingAt }) {
		r.finish()
	}
	b, err := r.store.Begin(source)
	require.NoError(r.rt, err)
	foreseen := r.foresee(b, log[start:max(start, end)])
	for at := start; at < end; at++ {
		o := snapshot.Origin{Topic: source.Topic, Partition: source.Partition, Offset: int64(at)}
		r.take(b, log[at], o, foreseen[at-start])
	}
	require.NoError(r.rt, b.Commit(int64(end)))
	return end > offset
}

// foresee looks transactions up together, as the role does, or leaves each to be looked up when it is taken. What is no
// transaction is nil.
func (r *run) foresee(b *snapshot.Batch, records []logged) []*snapshot.Foreseen {
	out := make([]*snapshot.Foreseen, len(records))
	hashing, together := r.store.Marks().NewRedactingHashing(), rapid.Bool().Draw(r.rt, "together")
	var all []*snapshot.Foreseen
	for i, l := range records {
		if len(l.features) == 0 || !together {
			continue
		}
		f := hashing.Foresee(lethe.Transaction{ID: l.id, Timestep: l.timestep, Features: l.features})
		out[i] = &f
		all = append(all, &f)
	}
	require.NoError(r.rt, b.Place(all))
	return out
}

func (r *run) take(b *snapshot.Batch, l logged, o snapshot.Origin, foreseen *snapshot.Foreseen) {
	var v snapshot.Verdict
	var err error
	switch {
	case l.end:
		v, err = b.Control(l.timestep, o)
	case o.Topic == labelsTopic:
		v, err = b.Label(lethe.LabelRecord{ID: l.id, Timestep: l.timestep, Label: l.label}, o)
	case l.target != "":
		v, err = b.Payment(lethe.Payment{Source: l.id, Target: l.target, Timestep: l.timestep}, o)
	case foreseen != nil:
		v, err = foreseen.Take(b, o)
	default:
		v, err = b.Transaction(lethe.Transaction{ID: l.id, Timestep: l.timestep, Features: l.features}, o)
	}
	require.NoError(r.rt, err)
	require.Equal(r.rt, v.Outcome == snapshot.Refused, v.Refusal != nil)
	if v.Refusal != nil && v.Refusal.Reason == snapshot.ReasonTimestepJump {
		r.ahead[fmt.Sprintf("%s/%d@%d", o.Topic, o.Partition, o.Offset)] = true
	}
}

// advance does up to a number of things that are due: to reopen, close and settle timesteps.
func (r *run) advance(limit int) {
	ctx := context.Background()
	for range limit {
		var err error
		toClose, toSettle := r.store.Ready()
		waiting := r.store.Waiting()
		idle := len(toClose)+len(toSettle) == 0
		switch {
		case len(waiting) > 0 && (idle || rapid.Bool().Draw(r.rt, "reopen")):
			_, err = r.store.ReopenTimestep(ctx, rapid.SampledFrom(waiting).Draw(r.rt, "waiting"), inTurn)
		case r.closing != nil && (len(toSettle) == 0 || rapid.Bool().Draw(r.rt, "finish")):
			r.finish()
		case len(toClose) > 0 && r.closing == nil:
			err = r.close(ctx, toClose[0])
		case len(toSettle) > 0:
			err = r.store.SettleTimestep(ctx, toSettle[0], inTurn)
		default:
			return
		}
		require.NoError(r.rt, err)
		r.confirm()
	}
}

// confirm notes the letters that are out and forgets them.
func (r *run) confirm() {
	letters, err := r.store.Letters().Unconfirmed()
	require.NoError(r.rt, err)
	if !r.disk.stopped() { // or nobody was there to be told
		for _, l := range letters {
			r.dead.put(r.logs, l)
		}
	}
	require.NoError(r.rt, r.store.Letters().Confirm(len(letters)))
}

func (r *run) act() {
	switch rapid.IntRange(0, 9).Draw(r.rt, "action") {
	case 0, 1, 2, 3, 4, 5:
		r.consume()
	case 6, 7:
		r.advance(rapid.IntRange(1, 6).Draw(r.rt, "limit"))
	case 8:
		require.NoError(r.rt, r.store.Erase(context.Background(), nil))
	case 9:
		if r.logs.options.Late == snapshot.Reopen {
			erased := r.logs.erased[:min(1, len(r.logs.erased))]
			require.NoError(r.rt, r.store.Erase(context.Background(), lethe.Transactions(erased...)))
		}
	}
}

// crash stops the machine somewhere within an action and starts it again.
func (r *run) crash() {
	writes := rapid.IntRange(1, 60).Draw(r.rt, "writes")
	r.disk.arm(writes, rapid.SampledFrom([]int{0, 50, 100}).Draw(r.rt, "percent"))
	r.act()
	old := r.store
	r.disk.stop()
	require.NoError(r.rt, old.Close())
	r.open()
}

func (r *run) exhausted() bool {
	for stream, logs := range map[string][][]logged{transactionsTopic: r.logs.transactions, labelsTopic: r.logs.labels} {
		for p, log := range logs {
			if r.store.Offsets()[snapshot.TopicPartition{Topic: stream, Partition: p}] < int64(len(log)) {
				return false
			}
		}
	}
	return true
}

// TestSnapshotDoesNotDependOnHowItCameAbout is invariant I1, and that erasing, at
// whatever time, equals never having had: timesteps, their links and the dead
// letters of others are a function of the set of records and, of those that share a
// key, their order.
func TestSnapshotDoesNotDependOnHowItCameAbout(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := &run{rt: rt, logs: drawLogs(rt), disk: &crashDisk{disk: vfs.NewCrashableMem()}, dead: deadLetters{},
			ahead: map[string]bool{}}
		r.open()
		defer func() { require.NoError(rt, r.store.Close()) }()
		for !r.exhausted() {
			if rapid.IntRange(0, 9).Draw(rt, "crash") == 0 {
				r.crash()
			} else {
				r.act()
			}
		}
		r.advance(200)
		require.NoError(rt, r.store.Erase(context.Background(), lethe.Transactions(r.logs.erased...)))
		r.confirm()
		r.advance(200)
		r.compare()
	})
}

func (r *run) compare() {
	want := r.logs.expected()
	previous := lethe.NoTimestep
	for _, i := range r.store.Timesteps() {
		if i.State == lethe.Open {
			require.Zero(r.rt, i.Nodes+i.Waiting, "timestep %d is left open", i.Timestep)
			continue
		}
		require.Equal(r.rt, lethe.Settled, i.State, "timestep %d", i.Timestep)
		c, err := r.store.Load(i.Timestep)
		require.NoError(r.rt, err)
		require.Equal(r.rt, i, c.Info)
		require.Equal(r.rt, previous, i.Previous)
		require.Len(r.rt, c.Assignment, len(c.Snapshot.Nodes))
		require.Equal(r.rt, i.Revision, c.Snapshot.Revision)
		require.Equal(r.rt, []int{i.Nodes, i.Payments}, []int{len(c.Snapshot.Nodes), len(c.Snapshot.Payments)})
		previous = i.Timestep
		expected := want.snapshots[i.Timestep]
		require.NotNil(r.rt, expected, "timestep %d is empty", i.Timestep)
		require.Equal(r.rt, expected.Nodes, slices.Clip(c.Snapshot.Nodes))
		require.Equal(r.rt, canonical.EncodeSnapshot(expected), canonical.EncodeSnapshot(c.Snapshot), "timestep %d",
			i.Timestep)
		delete(want.snapshots, i.Timestep)
	}
	require.Empty(r.rt, want.snapshots, "timesteps that should be settled")
	require.Empty(r.rt, r.store.Waiting())
	maps.DeleteFunc(r.dead, func(about string, _ deadLetter) bool { return r.logs.names(about) })
	require.Equal(r.rt, want.dead, r.dead)
	if len(r.logs.erased) == 0 {
		require.Equal(r.rt, want.ahead, r.ahead)
	}
}
