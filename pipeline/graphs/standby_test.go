package graphs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/canonical"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/graphs/erase"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
)

func (d *deployment) submit(gone ...lethe.TransactionID) {
	d.Helper()
	d.put(bus.Erasures)(ingest.EncodeErasure(lethe.ErasureRequest{
		RequestID: "gdpr-1", Targets: lethe.Transactions(gone...),
	}, time.Time{}))
}

// payloads are what the topics hold in the end.
func (d *deployment) payloads() map[wire.Key]string {
	d.Helper()
	out := make(map[wire.Key]string)
	newest, _ := d.published(bus.Snapshots, bus.Slices)
	for key, m := range newest {
		out[key] = string(m.Payload)
	}
	return out
}

// A process stands by while another one leads, and takes over at any state of an erasure. What comes
// out is what one process makes, and nothing is verified before both have searched.
func TestAStandbyTakesOver(t *testing.T) {
	gone := []lethe.TransactionID{transactionID(1, 0), transactionID(2, 1)}
	steps := []deletions.State{
		deletions.Accepted, deletions.Retraining, deletions.Swapped, deletions.Erased, deletions.Verified,
	}
	answers := [][]deletions.Step{{deletions.StepSuppressed}, {deletions.StepPurged, deletions.StepSwapped},
		{deletions.StepErased}, {deletions.StepScanned}}
	carry := func(d *deployment, at func(state deletions.State)) {
		d.submit(gone...)
		for i, state := range steps {
			at(state)
			if i < len(answers) {
				for _, step := range answers[i] {
					d.step(step)
				}
			}
		}
	}
	alone := deploy(t)
	r, _ := alone.run(t.TempDir())
	alone.fill(1)
	alone.settle(1)
	alone.fill(2)
	alone.until(r, "two steps", twoSteps)
	carry(alone, func(state deletions.State) {
		alone.until(r, string(state), inState(state))
	})
	alone.settle(2)
	alone.fill(3)
	alone.until(r, "the third", threeSteps)

	for _, killedIn := range steps {
		t.Run(string(killedIn), func(t *testing.T) {
			t.Parallel()
			c := twoProcesses(t)
			leader := "one"
			carry(c.deployment, func(state deletions.State) {
				c.until(c.roles[leader], string(state), inState(state))
				if state == killedIn {
					c.stops["one"]()
					leader = "two"
					c.group.Lead("two")
					c.until(c.roles["two"], "the other", inState(state))
					c.begin("one")
				}
			})
			c.settle(2)
			c.fill(3)
			for name, r := range c.roles {
				c.until(r, name, threeSteps)
			}
			require.Equal(t, alone.payloads(), c.payloads())
			// Who led first leads again, and knows what the other one has noted since.
			c.group.Lead("one")
			c.until(c.roles["one"], "the first again", inState(deletions.Verified))
			receipt, err := os.ReadFile(filepath.Join(c.receipts["two"], "gdpr-1.json"))
			require.NoError(t, err)
			require.NotEmpty(t, receipt)
			for name, dir := range c.dirs {
				require.NoError(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
					if errors.Is(err, fs.ErrNotExist) || err == nil && e.IsDir() {
						return nil // a store that is opened removes files
					}
					data, err := os.ReadFile(path)
					require.False(t, bytes.Contains(data, []byte(gone[0])), "%s holds it in %s", name, path)
					if errors.Is(err, fs.ErrNotExist) {
						return nil
					}
					return err
				}))
			}
		})
	}
}

// A process that was away when a request was taken back has not handover of it, and takes what that
// suppressed again when it opens its store; what another request suppresses stays so.
func TestWhatWasTakenBackMeanwhileIsTakenAgain(t *testing.T) {
	d := deploy(t)
	store, err := openSnapshots(t.Context(), d.options(t.TempDir()).agreed())
	require.NoError(t, err)
	defer store.Close()
	asks := func(id string, states []deletions.State, targets ...lethe.Target) deletions.Entry {
		e, err := deletions.NewEntry(secret, lethe.ErasureRequest{RequestID: id, Targets: targets}, time.Unix(1, 0))
		require.NoError(t, err)
		for _, state := range states {
			e.History, e.State = append(e.History, deletions.Change{State: state}), state
		}
		return e
	}
	whole, other := lethe.Transactions("a")[0], lethe.Transactions("b")[0]
	part := lethe.FeaturesOf("c", 1)
	back := asks("back", []deletions.State{deletions.Accepted}, whole, other, part)
	require.NoError(t, erase.SuppressAsIn(store, []deletions.Entry{back}))
	require.True(t, store.Suppressed().Has(secret.Suppressed(whole)))
	require.True(t, store.Suppressed().Redacts())
	back = asks("back", []deletions.State{deletions.Accepted, deletions.Cancelled}, whole, other, part)
	on := asks("on", []deletions.State{deletions.Accepted}, other)
	require.NoError(t, erase.SuppressAsIn(store, []deletions.Entry{back, on}))
	require.False(t, store.Suppressed().Has(secret.Suppressed(whole)))
	require.False(t, store.Suppressed().Redacts())
	require.True(t, store.Suppressed().Has(secret.Suppressed(other)))
}

// Anybody who may write to receipts.v1 could have who took over keep what is no receipt, and refuse every start after
// that: no ledger knows its request.
func TestWhoTakesOverKeepsNoForgedReceipts(t *testing.T) {
	c := twoProcesses(t)
	c.send(bus.Receipts, ingest.Outgoing{Key: []byte("forged"), Value: []byte("x")},
		ingest.Outgoing{Key: []byte("forged-2"), Value: []byte(`{"payload":"e30","signatures":[]}`)})
	c.stops["one"]()
	c.group.Lead("two")
	c.fill(3)
	c.until(c.roles["two"], "the third", func(s *role.Status) bool { return len(s.Steps) > 2 })
	kept, err := os.ReadDir(c.receipts["two"])
	require.NoError(t, err)
	require.Empty(t, kept)
}

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
			c.put(bus.Erasures)(ingest.EncodeErasure(lethe.ErasureRequest{
				RequestID: "gdpr-2", Targets: lethe.Transactions(gone),
			}, time.Time{}))
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
		d.step(step)
	}
	d.until(r, "verified", inState(deletions.Verified))
}

// A process that stands by has erased a transaction, and takes another one with the very features, which is corrected
// at once. Its files hold them, and those of the leader do not any more: the next try has them written anew here,
// too, though what the request names is on no topic by then.
func TestAStandbyWritesItsFilesAnewInEveryTry(t *testing.T) {
	c := twoProcesses(t)
	in := func(state deletions.State) {
		t.Helper()
		c.until(c.roles["one"], string(state), inState(state))
	}
	c.submit(transactionID(1, 1))
	in(deletions.Accepted)
	c.answer("score", deletions.StepSuppressed)
	erased := func() bool { return c.answered("two", deletions.StepErased) }
	require.Eventually(t, erased, 30*time.Second, 5*time.Millisecond)

	for _, first := range []float32{1, 9} {
		c.arrives(3, "alike", first, 1, 0.5)
		for name, r := range c.roles { // in a batch of its own
			c.until(r, name, func(s *role.Status) bool { return s.Count(lethe.Open) == 1 })
		}
	}
	c.fill(3)
	for name, r := range c.roles {
		c.until(r, name, func(s *role.Status) bool { return s.Count(lethe.Closed) == 2 })
	}
	c.answer("train", deletions.StepPurged)
	c.answer("score", deletions.StepSwapped)
	for _, name := range []string{"train", "score"} {
		c.answerTries(name, deletions.StepErased, 9)
		c.answerTries(name, deletions.StepScanned, 9)
	}
	in(deletions.Verified)
}

// answered reports whether a process of the role has said that it has done a step of the erasure.
func (d *deployment) answered(identity string, step deletions.Step) (is bool) {
	d.Helper()
	for _, n := range roletest.Notices(d, d.topics) {
		is = is || n.Ack != nil && n.Ack.Role == roleName && n.Ack.Instance == identity && n.Ack.Step == step
	}
	return is
}
