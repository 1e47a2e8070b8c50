package graphs

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/canonical"
	"lethe/deletions"
	"lethe/ingest/bus"
	"lethe/pipeline/graphs/publish"
	"lethe/pipeline/journal"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
)

// stored is what a process that was stopped has stored, and at which place of the journal.
func (c *crew) stored(name string) (journal.Position, []string) {
	c.Helper()
	o := c.options(c.dirs[name]).agreed()
	store, err := openSnapshots(c.Context(), o)
	require.NoError(c, err)
	defer store.Close()
	at, err := publish.Position(store)
	require.NoError(c, err)
	var out []string
	for tp, next := range store.Offsets() {
		if topic := bus.Topic(tp.Topic); topic == bus.Transactions || topic == bus.Labels {
			out = append(out, fmt.Sprint(tp, next))
		}
	}
	slices.Sort(out)
	for _, i := range store.Timesteps() {
		text := fmt.Sprintf("%+v", i)
		if i.State > lethe.Open {
			content, err := store.Load(i.Timestep)
			require.NoError(c, err)
			text += fmt.Sprint(canonical.DigestSnapshot(content.Snapshot), content.Assignment)
		}
		for _, kind := range []publish.Kind{publish.Graph, publish.Manifest, publish.Gone} {
			value, _, err := store.Marks().Get(kind.Mark(i.Timestep, 0).Key)
			require.NoError(c, err)
			text += fmt.Sprintf(" %x", value)
		}
		out = append(out, text)
	}
	return at, append(out, fmt.Sprint(store.Gone()))
}

// A store is a function of the journal: at the same place of it, that of the leader and that of a standby are equal,
// whatever came late, was corrected, refused, rewritten and removed.
func TestStoresAreEqualAtEqualPlacesOfTheJournal(t *testing.T) {
	c := newCrew(t)
	c.window = time.Millisecond
	c.begin("one")
	c.begin("two")
	c.twoSteps()
	c.arrives(1, "late", 1, 2, 3)
	c.arrives(1, transactionID(1, 3), 9, 9, 9)
	c.arrives(2, "narrow", 1)
	c.submit(transactionID(1, 0), transactionID(2, 1))
	c.until(c.roles["one"], "accepted", inState(deletions.Accepted))
	c.step(deletions.StepSuppressed)
	c.until(c.roles["one"], "retraining", inState(deletions.Retraining))
	c.settle(2)
	c.fill(3)
	for name, r := range c.roles {
		c.until(r, name, threeSteps)
	}
	c.stops["one"]()
	place, want := c.stored("one")
	require.NotZero(t, place.Number)
	require.Eventually(t, func() bool {
		c.stops["two"]()
		defer c.begin("two")
		at, got := c.stored("two")
		if at != place {
			return false
		}
		require.Equal(t, want, got)
		return true
	}, time.Minute, 50*time.Millisecond)
}

// A record of a timestep was replaced after that had closed, and is gone from its topic once that is compacted. A
// process that begins with an empty folder makes another graph first, and the same in the end; as it leads it
// publishes no other.
func TestAStandbyOfACompactedTopicPublishesTheSameGraphs(t *testing.T) {
	alone := deploy(t)
	alone.window = time.Millisecond
	stream := func(d *crew, step func()) {
		d.fill(1)
		d.settle(1)
		d.fill(2)
		step()
		d.arrives(1, transactionID(1, 3), 9, 9, 9)
		d.arrives(2, "late", 1, 2, 3)
		d.settle(2)
		d.fill(3)
		step()
	}
	r, _ := alone.run(t.TempDir())
	steps := []func(*role.Status) bool{twoSteps, threeSteps}
	next := 0
	stream(&crew{deployment: alone}, func() {
		alone.until(r, "alone", steps[next])
		next++
	})

	c := newCrew(t)
	c.window = time.Millisecond
	c.begin("one")
	next = 0
	stream(c, func() {
		c.until(c.roles["one"], "one", steps[next])
		next++
	})
	require.Eventually(t, func() bool { return equalPayloads(alone, c.deployment) }, 30*time.Second, 5*time.Millisecond)
	require.NoError(t, c.topics.Compact())
	c.begin("two")
	c.until(c.roles["two"], "two", threeSteps)
	c.takesOver("two")
	for _, d := range []*deployment{alone, c.deployment} {
		d.settle(3)
		d.fill(4)
	}
	fourSteps := func(s *role.Status) bool { return s.Count(lethe.Settled) == 3 && s.Count(lethe.Closed) == 1 }
	c.until(c.roles["two"], "two", fourSteps)
	alone.until(r, "alone", fourSteps)
	require.Eventually(t, func() bool { return equalPayloads(alone, c.deployment) }, 30*time.Second, 5*time.Millisecond)
}

func equalPayloads(a, b *deployment) bool { return maps.Equal(a.payloads(), b.payloads()) }

// The leader ends between an entry of the journal and what it asks for. Whoever leads next publishes that, also the
// same process.
func TestWhatTheJournalAskedForLastIsPublished(t *testing.T) {
	for _, next := range []string{"one", "two"} {
		for _, topic := range []bus.Topic{bus.Snapshots, bus.Slices} {
			t.Run(fmt.Sprint(next, " ", topic), func(t *testing.T) {
				t.Parallel()
				c := twoProcesses(t)
				hangs := c.before.hangs(topic)
				c.settle(2)
				c.fill(3)
				require.Eventually(t, hangs.Load, 30*time.Second, 5*time.Millisecond)
				c.group.Lead("nobody")
				if next == "two" {
					c.stops["one"]()
				}
				c.before.Store(nil)
				c.group.Lead(next)
				c.until(c.roles[next], "three steps", threeSteps)
				manifest := wire.Key{Kind: wire.KindManifest, Timestep: 2}
				require.Eventually(t, func() bool {
					newest, _ := c.published(bus.Snapshots, bus.Slices)
					_, graph := newest[wire.Key{Kind: wire.KindSnapshot, Timestep: 3}]
					_, slices := newest[wire.Key{Kind: wire.KindSlice, Timestep: 2}]
					_, settled := newest[manifest]
					return graph && slices && settled
				}, 30*time.Second, 5*time.Millisecond)
			})
		}
	}
}
