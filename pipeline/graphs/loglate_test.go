package graphs

import (
	"crypto/ed25519"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/deletions"
	"lethe/deletions/translog"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// Who led before may finish what it wrote of the transparency log once another one leads, which has other leaves there.
// The topic holds the log of who leads again; also if it was written while nobody led, and whoever leads next makes
// its log of the topic.
func TestWhatAReplacedLeaderLoggedLateIsPublishedAgain(t *testing.T) {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)).Public().(ed25519.PublicKey)
	for name, leads := range map[string]string{"while another one leads": "two", "while nobody leads": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCrew(t)
			c.begin("one")
			c.begin("two")
			c.twoSteps()
			c.submit(transactionID(1, 0))
			c.until(c.roles["one"], "accepted", inState(deletions.Accepted))
			first, before := ownedBus{c.topics, c.firstLeader()}, c.newest(bus.Log)
			c.group.Lead("two")
			c.until(c.roles["two"], "the other", inState(deletions.Accepted))
			c.answer("train", deletions.StepSuppressed)
			c.answer("score", deletions.StepSuppressed)
			c.until(c.roles["two"], "rewritten", inState(deletions.Retraining))
			want := c.logged()
			size := len(before) - 1
			require.Greater(t, len(want.Leaves), size)
			if leads == "" {
				c.stops["two"]()
			}
			late := []ingest.Outgoing{unowned(before["checkpoint"])}
			for _, index := range []int{size, len(want.Leaves)} {
				late = append(late, ingest.Outgoing{Key: fmt.Appendf(nil, "%016d", index), Value: want.Leaves[size-1]})
			}
			require.NoError(t, first.Write(t.Context(), bus.Log, late))
			if leads == "" {
				c.group.Lead("one")
			}
			require.Eventually(t, func() bool {
				got := c.logged()
				return translog.Verify(translog.Evidence{Published: &got, Key: key, Older: want.Checkpoint}).OK
			}, 30*time.Second, 5*time.Millisecond)
		})
	}
}

// logged is the transparency log as its topic has it.
func (c *crew) logged() translog.Copy {
	c.Helper()
	got, err := translog.ReadPublished(c.Context(), c.topics)
	require.NoError(c, err)
	return got
}
