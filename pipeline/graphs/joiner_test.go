package graphs

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/canonical"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
)

// W122: a process that joins with an empty folder after an erasure partitions the timestep without the target, and gets
// other shards than the published slices have. When it leads, the next erasure leaves every transaction in one
// published slice, and its target in none.
func TestAProcessThatJoinsAfterAnErasurePublishesItsOwnSlices(t *testing.T) {
	for first := range 4 {
		t.Run(fmt.Sprint(first), func(t *testing.T) {
			t.Parallel()
			c := newCrew(t)
			c.begin("one")
			c.twoSteps()
			c.submit(transactionID(1, first))
			c.until(c.roles["one"], "accepted", inState(deletions.Accepted))
			c.answerAll(c.roles["one"])
			c.settle(2)
			c.fill(3)
			c.until(c.roles["one"], "three steps", threeSteps)
			require.NoError(t, c.topics.Compact())
			c.begin("two")
			c.until(c.roles["two"], "two", threeSteps)
			c.takesOver("two")

			gone := transactionID(1, (first+4)%7)
			key, value, err := ingest.EncodeErasure(lethe.ErasureRequest{
				RequestID: "gdpr-2", Targets: lethe.Transactions(gone),
			}, time.Time{})
			require.NoError(t, err)
			c.send(bus.Erasures, ingest.Outgoing{Key: key, Value: value})
			c.until(c.roles["two"], "accepted", inState(deletions.Accepted))
			suppressed := deletions.NewAck("gdpr-2", "score", "1", deletions.StepSuppressed)
			answer, err := suppressed.Encode()
			require.NoError(t, err)
			c.send(bus.Control, ingest.Outgoing{Key: []byte(suppressed.Key()), Value: answer})
			c.until(c.roles["two"], "retraining", inState(deletions.Retraining))

			shards := c.publishedShards(1)
			require.Empty(t, shards[secret.Pseudonym(gone)])
			require.Len(t, shards, 5)
			for node, in := range shards {
				require.Len(t, in, 1, "%x", node)
			}
		})
	}
}

// publishedShards are the shards whose published slices of a timestep have a transaction.
func (c *crew) publishedShards(at lethe.Timestep) map[lethe.Pseudonym][]lethe.ShardID {
	c.Helper()
	out := make(map[lethe.Pseudonym][]lethe.ShardID)
	newest, _ := c.published(bus.Slices)
	for key, m := range newest {
		if key.Kind != wire.KindSlice || key.Timestep != at {
			continue
		}
		slice, err := canonical.DecodeSlice(m.Payload)
		require.NoError(c, err)
		for _, node := range slice.Nodes {
			out[node] = append(out[node], slice.Shard)
		}
	}
	return out
}

// answerAll acknowledges for train and score until the request is verified.
func (d *deployment) answerAll(r role.Role) {
	d.Helper()
	for _, step := range []deletions.Step{
		deletions.StepSuppressed, deletions.StepPurged, deletions.StepSwapped, deletions.StepErased, deletions.StepScanned,
	} {
		for _, of := range []string{"train", "score"} {
			d.answer(of, step)
		}
	}
	d.until(r, "verified", inState(deletions.Verified))
}
