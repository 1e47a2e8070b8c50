package graphs

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/canonical"
	"lethe/deletions"
	"lethe/deletions/coordinator"
	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
)

// answer acknowledges a step as another role would.
func (d *deployment) answer(role string, step deletions.Step) { d.answerTries(role, step, 0) }

// step answers for the other roles.
func (d *deployment) step(step deletions.Step) {
	d.Helper()
	for _, role := range []string{"train", "score"} {
		d.answer(role, step)
	}
}

// answerTries acknowledges a step for all tries up to one.
func (d *deployment) answerTries(role string, step deletions.Step, last int) {
	d.Helper()
	a := deletions.NewAck("gdpr-1", role, "1", step)
	a.Attempt = last
	switch step {
	case deletions.StepPurged:
		a.Shards = []lethe.ShardID{0, 1, 2}
	case deletions.StepErased, deletions.StepScanned:
		a.Scan = &scan.Summary{}
	default:
	}
	value, err := a.Encode()
	require.NoError(d, err)
	d.send(bus.Control, ingest.Outgoing{Key: []byte(a.Key()), Value: value})
}

// commands counts what the other roles were asked for, by phase.
func (d *deployment) commands() map[wire.Phase]int {
	d.Helper()
	out := make(map[wire.Phase]int)
	for _, n := range roletest.Notices(d, d.topics) {
		if n.Command != nil {
			out[n.Command.Phase]++
		}
	}
	return out
}

// holds reports whether the newest graph of a timestep holds a transaction.
func (d *deployment) holds(at lethe.Timestep, id lethe.TransactionID) bool {
	d.Helper()
	messages, _ := d.published(bus.Snapshots)
	g, err := canonical.DecodeSnapshot(messages[wire.Key{Kind: wire.KindSnapshot, Timestep: at}].Payload)
	require.NoError(d, err)
	p := secret.Pseudonym(id)
	return slices.ContainsFunc(g.Nodes, func(n lethe.SnapshotNode) bool { return n.Pseudonym == p })
}

// An erasure waits for the other roles at every state, is ordered again by a role
// that starts again, and is verified by a search whose end wakes the role.
func TestAnErasureIsCarriedOutAndVerified(t *testing.T) {
	d := deploy(t)
	dir := t.TempDir()
	r, stop := d.run(dir)
	in := func(state deletions.State) {
		t.Helper()
		d.until(r, string(state), inState(state))
	}
	d.fill(1)
	d.settle(1)
	d.fill(2)
	d.until(r, "a timestep of each state", func(s *role.Status) bool {
		return s.Count(lethe.Settled) == 1 && s.Count(lethe.Closed) == 1
	})
	gone := []lethe.TransactionID{transactionID(1, 0), transactionID(2, 1)}
	d.submit(gone...)
	in(deletions.Accepted)
	require.True(t, d.holds(1, gone[0]), "score has not answered")

	d.answer("score", deletions.StepSuppressed)
	in(deletions.Retraining)
	require.False(t, d.holds(1, gone[0]))
	require.False(t, d.holds(2, gone[1]))
	newest, count := d.published(bus.Snapshots, bus.Slices)
	manifest := newest[wire.Key{Kind: wire.KindManifest, Timestep: 1}]
	require.Equal(t, lethe.Revision(2), manifest.Revision)
	require.Equal(t, map[wire.Phase]int{wire.PhaseSuppress: 1, wire.PhasePurge: 1}, d.commands())

	stop()
	r, _ = d.run(dir)
	in(deletions.Retraining)
	require.Equal(t, map[wire.Phase]int{wire.PhaseSuppress: 1, wire.PhasePurge: 2}, d.commands())
	_, again := d.published(bus.Snapshots, bus.Slices)
	require.Equal(t, count, again, "what was published is not published again")

	d.answer("train", deletions.StepPurged)
	d.answer("score", deletions.StepSwapped)
	in(deletions.Swapped)
	d.step(deletions.StepErased)
	in(deletions.Erased)
	d.step(deletions.StepScanned)
	in(deletions.Verified)
	require.Equal(t, 12, r.Status().Transactions())
}

// W124: a label that waits for its transaction names, in a header, a transaction that is erased meanwhile. Stores keep
// no headers: with them the erasure found the name in the store at each attempt, and a standby kept it after the end,
// as only leaders know by which names records are stripped.
func TestAnErasureDoesNotFindHeadersOfWaitingRecords(t *testing.T) {
	d := deploy(t)
	r, _ := d.run(t.TempDir())
	d.settled(r, 1)
	gone := transactionID(1, 0)
	key, value, err := ingest.EncodeLabel(lethe.LabelRecord{ID: "unknown", Timestep: 3, Label: lethe.Licit})
	require.NoError(t, err)
	header := ingest.Header{Key: "refers-to", Value: []byte(gone)}
	d.send(bus.Labels, ingest.Outgoing{Key: key, Value: value, Headers: []ingest.Header{header}})
	d.fill(2)
	d.until(r, "two", twoSteps)
	d.submit(gone)
	d.until(r, "accepted", inState(deletions.Accepted))
	d.answerAll(r)
}

// partitionedAfresh has a settled and a closed timestep, and an erasure at scope partition.
func partitionedAfresh(s *simulation) []func() {
	s.fill(1)
	s.settle(1)
	s.fill(2)
	return s.erasingAt(lethe.ScopePartition, transactionID(1, 0), transactionID(2, 1))
}

// At scope partition the slices of a timestep are, byte for byte, those of a deployment that
// never saw the targets: nothing is left of what these had to do with who is where.
func TestAtScopePartitionSlicesAreThoseOfAStreamWithoutTheTargets(t *testing.T) {
	t.Parallel()
	got, _ := simulate(t, partitionedAfresh, 0, false).published(bus.Slices)
	want, _ := simulate(t, func(s *simulation) []func() {
		s.leaveOut = transactionID(1, 0)
		s.fill(1)
		s.settle(1)
		s.leaveOut = transactionID(2, 1)
		s.fill(2)
		return s.erasing("nobody")
	}, 0, false).published(bus.Slices)
	moved := make(map[lethe.Pseudonym]lethe.ShardID)
	for shard := range lethe.ShardID(shards) {
		key := wire.Key{Kind: wire.KindSlice, Shard: shard, Timestep: 1}
		require.Equal(t, want[key].Payload, got[key].Payload, "shard %d", shard)
		slice, err := canonical.DecodeSlice(got[key].Payload)
		require.NoError(t, err)
		for _, n := range slice.Nodes {
			moved[n] = shard
		}
	}
	kept, _ := simulate(t, inOrder, 0, false).published(bus.Slices)
	same := true
	for shard := range lethe.ShardID(shards) {
		slice, err := canonical.DecodeSlice(kept[wire.Key{Kind: wire.KindSlice, Shard: shard, Timestep: 1}].Payload)
		require.NoError(t, err)
		for _, n := range slice.Nodes {
			same = same && moved[n] == shard
		}
	}
	require.False(t, same, "at scope stubs everybody stays in his shard, so that the test would tell nothing")
}

// rewrites has the eraser rewrite graphs.
func (s *simulation) rewrites(targets []lethe.Target, replaced ...coordinator.Replaced) {
	s.Helper()
	require.NoError(s, s.deliver(func() (role.Output, error) {
		return s.logic.turns.Step(func() error { return s.logic.eraser.Rewrite(s.Context(), nil, targets, replaced) })
	}))
}

// A request has replaced a slice and ended, for a backup was put back, and another one has rewritten the timestep
// since, with another slice. The request in the place of the first waits for a slice that comes.
func TestWhatARequestThatHasEndedReplacedIsPublishedAnew(t *testing.T) {
	t.Parallel()
	s := newSimulation(t)
	s.fill(1)
	s.settle(1)
	s.fill(2)
	s.start()
	for range 20 {
		require.NoError(t, s.turn())
	}
	require.Equal(t, 1, s.logic.Status().Count(lethe.Settled))
	planned := func(id lethe.TransactionID) coordinator.Replaced {
		plans, err := s.logic.eraser.Plan(t.Context(), [][]lethe.Target{lethe.Transactions(id)}, lethe.ScopeShard)
		require.NoError(t, err)
		require.Len(t, plans[0].Steps, 1)
		return plans[0].Steps[0].Replaced
	}
	ended, others := planned(transactionID(1, 0)), 1
	for slices.Equal(planned(transactionID(1, others)).Shards, ended.Shards) {
		others++
	}
	s.rewrites(lethe.Transactions(transactionID(1, 0)), ended)
	s.rewrites(lethe.Transactions(transactionID(1, others)), planned(transactionID(1, others)))
	key := wire.Key{Kind: wire.KindSlice, Shard: ended.Shards[0], Timestep: 1}
	before, _ := s.published(bus.Slices)
	require.Equal(t, lethe.Revision(2), before[key].Revision)

	ended.Renewed = true
	s.rewrites(nil, ended)
	steps := s.logic.eraser.Steps([]coordinator.Replaced{ended})
	require.Len(t, steps, 1)
	after, count := s.published(bus.Slices, bus.Snapshots)
	require.Equal(t, steps[0].Revision, after[key].Revision, "this is what is waited for")
	manifest, err := wire.DecodeManifest(after[wire.Key{Kind: wire.KindManifest, Timestep: 1}].Payload)
	require.NoError(t, err)
	require.Equal(t, canonical.DigestOf(after[key].Payload), manifest.Slices[key.Shard])

	ended.Revision = steps[0].Revision
	s.rewrites(nil, ended)
	_, again := s.published(bus.Slices, bus.Snapshots)
	require.Equal(t, count, again, "it was noted that they are published")
	require.NoError(t, s.logic.Close())
}
