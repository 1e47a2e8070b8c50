package graphs

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/translog"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// toBeSent has timesteps 1 and 2 closed, and 1 settled, whose slices are to be sent.
func (c *closingRole) toBeSent() {
	c.Helper()
	c.fill(1)
	c.fill(2)
	c.poll()
	c.workAll()
	c.settle(1)
	c.poll()
	require.Len(c, c.due, 1, "shards are to be dealt")
	c.work()
	require.Len(c, c.due, 1, "slices are to be sent")
}

// slicesOf counts the slices and manifests that are published of a timestep, and all slices that are committed to.
func (c *closingRole) slicesOf(at lethe.Timestep) (slices, manifests, leaves int) {
	c.Helper()
	messages, _ := c.published(bus.Slices, bus.Snapshots)
	for key := range messages {
		switch {
		case key.Timestep != at:
		case key.Kind == wire.KindSlice:
			slices++
		case key.Kind == wire.KindManifest:
			manifests++
		}
	}
	for _, leaf := range c.committed() {
		if leaf.Kind() == translog.KindSlice {
			leaves++
		}
	}
	return slices, manifests, leaves
}

// The loop takes records while the slices of a timestep are sent, which counts as settled once they were. The next
// one waits for that.
func TestRecordsAreTakenWhileSlicesAreSent(t *testing.T) {
	c := deploy(t).closing()
	c.toBeSent()
	c.settle(2)
	c.fill(3)
	c.poll()
	require.Equal(t, 21, c.role.Status().Transactions())
	slices, manifests, _ := c.slicesOf(1)
	require.Zero(t, slices+manifests)
	require.Zero(t, c.role.Status().Count(lethe.Settled))
	c.work()
	slices, manifests, _ = c.slicesOf(1)
	require.Positive(t, slices)
	require.Equal(t, 1, manifests)
	require.Equal(t, 1, c.role.Status().Count(lethe.Settled))
	c.workAll()
	require.Equal(t, 2, c.role.Status().Count(lethe.Settled))
	_, count := c.published(bus.Slices)
	require.Equal(t, 2*slices, count, "each once")
}

// An erasure has slices sent before it is planned, and late records before they change the timestep: what is sent later
// is the next revision.
func TestSlicesAreSentBeforeTheirTimestepChanges(t *testing.T) {
	for what, change := range map[string]func(c *closingRole){
		"erasure": func(c *closingRole) {
			c.submit(transactionID(1, 2))
		},
		"late record": func(c *closingRole) { c.late(1, 1) },
	} {
		t.Run(what, func(t *testing.T) {
			c := deploy(t).closing()
			c.toBeSent()
			change(c)
			c.poll()
			require.NoError(t, c.session.Tick(t.Context()))
			slices, manifests, leaves := c.slicesOf(1)
			require.Positive(t, slices)
			require.Equal(t, 1, manifests)
			if what == "erasure" { // the log goes out with what the coordinator does
				require.Equal(t, slices, leaves)
			}
			c.workAll()
			messages, _ := c.published(bus.Snapshots)
			manifest := messages[wire.Key{Kind: wire.KindManifest, Timestep: 1}]
			if what == "late record" {
				require.Equal(t, lethe.Revision(2), manifest.Revision)
			}
			require.Equal(t, 1, c.role.Status().Count(lethe.Settled))
		})
	}
}

// The loop takes records while an erasure has staging written anew, which counts as done once the old files are gone.
// Whatever was taken meanwhile is there.
func TestRecordsAreTakenWhileStagingIsWrittenAnew(t *testing.T) {
	c := deploy(t).closing()
	c.fill(1)
	c.poll()
	c.workAll()
	c.submit(transactionID(1, 2))
	answer := func(role string, step deletions.Step) {
		t.Helper()
		c.answer(role, step)
		c.poll()
	}
	in := func(state deletions.State) {
		t.Helper()
		require.Equal(t, 1, c.role.Status().Erasures[state], c.role.Status().Erasures)
	}
	c.poll()
	answer("score", deletions.StepSuppressed)
	c.workAll()
	answer("train", deletions.StepPurged)
	answer("score", deletions.StepSwapped)
	in(deletions.Swapped)
	require.Len(t, c.due, 1, "staging is to be filled")
	answer("train", deletions.StepErased)
	taken := c.role.Status().Transactions()
	for n, part := range []string{"filled", "cleaned"} {
		const many = 5
		c.send(bus.Transactions, c.transactions(n*many, many)...)
		c.poll()
		taken += many
		require.Equal(t, taken, c.role.Status().Transactions(), part)
		in(deletions.Swapped)
		require.Len(t, c.due, 1, "staging is to be %s", part)
		c.work()
	}
	answer("score", deletions.StepErased)
	in(deletions.Erased)
	require.Equal(t, taken, c.role.Status().Transactions())
}

// transactions are some of an open timestep.
func (c *closingRole) transactions(first, many int) (out []ingest.Outgoing) {
	c.Helper()
	for i := first; i < first+many; i++ {
		key, value, err := c.encoding.Transaction(lethe.Transaction{
			ID: transactionID(2, i), Timestep: 2, Features: []float32{float32(i), 2, 0.5},
		})
		require.NoError(c, err)
		out = append(out, ingest.Outgoing{Key: key, Value: value})
	}
	return out
}
