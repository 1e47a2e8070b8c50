package graphs

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/canonical"
	"lethe/deletions"
	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
)

// answer acknowledges a step as another role would.
func (d *deployment) answer(role string, step deletions.Step) { d.answerTries(role, step, 0) }

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
	require.NoError(d, d.topics.ReadAll(d.Context(), bus.Control, func(rec ingest.Record) error {
		n, err := wire.ParseNotice(rec)
		if n.Command != nil {
			out[n.Command.Phase]++
		}
		return err
	}))
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
		d.until(r, string(state), func(s *role.Status) bool { return s.Erasures[state] == 1 })
	}
	d.fill(1)
	d.settle(1)
	d.fill(2)
	d.until(r, "a timestep of each state", func(s *role.Status) bool {
		return s.Count(lethe.Settled) == 1 && s.Count(lethe.Closed) == 1
	})
	gone := []lethe.TransactionID{transactionID(1, 0), transactionID(2, 1)}
	key, value, err := ingest.EncodeErasure(lethe.ErasureRequest{
		RequestID: "gdpr-1", Targets: lethe.Transactions(gone...),
	}, time.Time{})
	require.NoError(t, err)
	d.send(bus.Erasures, ingest.Outgoing{Key: key, Value: value})
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
	d.answer("train", deletions.StepErased)
	d.answer("score", deletions.StepErased)
	in(deletions.Erased)
	d.answer("train", deletions.StepScanned)
	d.answer("score", deletions.StepScanned)
	in(deletions.Verified)
	require.Equal(t, 12, r.Status().Transactions())
}
