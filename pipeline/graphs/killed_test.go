package graphs

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/deletions/translog"
	"lethe/ingest/bus"
)

// A process that leads again, after another one, is killed once it has said so: what it knows from when it led before
// is removed by then, or it would take that, at its next start, for more than it has said, and not begin.
func TestWhoIsKilledAsItTakesOverBeginsAgain(t *testing.T) {
	c := newCrew(t)
	c.begin("one")
	c.begin("two")
	c.twoSteps()
	c.stops["one"]()
	c.group.Lead("two")
	c.settle(2)
	c.fill(3)
	c.until(c.roles["two"], "three steps", threeSteps)
	committed := func(steps int) func() bool {
		return func() bool {
			return len(c.leaves(func(leaf translog.Leaf) bool { return leaf.Kind() == translog.KindSlice })) == steps*shards
		}
	}
	require.Eventually(t, committed(2), 30*time.Second, 5*time.Millisecond)
	var hangs atomic.Bool
	c.after.set(func(ctx context.Context, name string, to bus.Topic) error {
		if name != "one" || to != bus.Journal {
			return nil
		}
		hangs.Store(true)
		<-ctx.Done()
		return ctx.Err()
	})
	c.begin("one")
	c.stops["two"]()
	c.group.Lead("one")
	require.Eventually(t, hangs.Load, 30*time.Second, 5*time.Millisecond)
	c.stops["one"]()
	c.after.Store(nil)
	c.begin("one")
	c.settle(3)
	c.fill(4)
	require.Eventually(t, committed(3), 30*time.Second, 5*time.Millisecond)
}
