package graphs

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
)

// An erasure removes a timestep that was rewritten before, and who carries it out ends. Whoever takes over, and has
// never heard of those revisions, makes the timestep again of a record that comes late: behind what the erasure asks
// others to wait for, or they would wait for ever.
func TestATimestepThatAnErasureRemovedComesAgainBehindIt(t *testing.T) {
	c := newCrew(t)
	graph := func() lethe.Revision {
		newest, _ := c.published(bus.Snapshots)
		return newest[wire.Key{Kind: wire.KindSnapshot, Timestep: 1}].Revision
	}
	c.begin("one")
	c.fill(1)
	c.fill(2)
	c.until(c.roles["one"], "two graphs", func(s *role.Status) bool { return s.Count(lethe.Closed) == 2 })
	c.arrives(1, "late", 9, 9, 9)
	c.fill(3) // so that it does not wait for others
	require.Eventually(t, func() bool { return graph() == 2 }, 30*time.Second, 5*time.Millisecond)
	gone := []lethe.TransactionID{"late"}
	for i := range 7 {
		gone = append(gone, transactionID(1, i))
	}
	c.submit(gone...)
	c.step(deletions.StepSuppressed)
	c.until(c.roles["one"], "removed", func(s *role.Status) bool {
		return s.Erasures[deletions.Retraining] == 1 && graph() == 0
	})
	c.stops["one"]()
	c.begin("two")
	c.group.Lead("two")
	c.until(c.roles["two"], "the other leads", inState(deletions.Retraining))
	c.arrives(1, "later", 9, 9, 9)
	c.fill(4)
	require.Eventually(t, func() bool { return graph() > 3 }, 30*time.Second, 5*time.Millisecond)
}

// Who leads has published a timestep that it has announced nothing of, plans an erasure in it, and ends before anything
// is rewritten. Who takes over is still to make it, and asks others to learn it anew all the same.
func TestWhatWasPlannedInATimestepThatIsStillToBeMadeIsAskedFor(t *testing.T) {
	for name, gone := range map[string][]lethe.TransactionID{
		"alone": {transactionID(3, 0)}, "with another": {transactionID(1, 0), transactionID(3, 0)},
	} {
		t.Run(name, func(t *testing.T) { plannedInWhatIsStillToBeMade(t, gone...) })
	}
}

func plannedInWhatIsStillToBeMade(t *testing.T, gone ...lethe.TransactionID) {
	c := newCrew(t)
	fourSteps := func(s *role.Status) bool { return s.Count(lethe.Settled) == 3 && s.Count(lethe.Closed) == 1 }
	c.begin("one")
	c.begin("two")
	c.twoSteps()
	c.group.Freeze(true)
	c.settle(2)
	c.fill(3)
	c.settle(3)
	c.fill(4)
	c.until(c.roles["one"], "four steps", fourSteps)
	c.submit(gone...)
	c.until(c.roles["one"], "accepted", inState(deletions.Accepted))
	hangs := c.before.hangs(bus.Snapshots, bus.Slices)
	c.step(deletions.StepSuppressed)
	require.Eventually(t, hangs.Load, 30*time.Second, 5*time.Millisecond)
	c.stops["one"]()
	c.group.Freeze(false)
	c.group.Lead("two")
	c.until(c.roles["two"], "the other leads", func(s *role.Status) bool {
		return s.Erasures[deletions.Retraining] == 1 && fourSteps(s)
	})
	var asked []wire.CommandStep
	for _, n := range roletest.Notices(t, c.topics) {
		if n.Command != nil && n.Command.Phase.Rewrites() {
			asked = n.Command.Steps
		}
	}
	at := slices.IndexFunc(asked, func(s wire.CommandStep) bool { return s.Timestep == 3 })
	require.GreaterOrEqual(t, at, 0, asked)
	newest, _ := c.published(bus.Snapshots)
	require.GreaterOrEqual(t, newest[wire.Key{Kind: wire.KindSnapshot, Timestep: 3}].Revision, asked[at].Revision)
	require.True(t, asked[at].Settled)
}
