package graphs

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/graphs/erase"
	"lethe/pipeline/role"
	"lethe/pipeline/wire"
)

func (d *deployment) submit(gone ...lethe.TransactionID) {
	d.Helper()
	key, value, err := ingest.EncodeErasure(lethe.ErasureRequest{
		RequestID: "gdpr-1", Targets: lethe.Transactions(gone...),
	}, time.Time{})
	require.NoError(d, err)
	d.send(bus.Erasures, ingest.Outgoing{Key: key, Value: value})
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
	roles := []string{"train", "score"}
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
					for _, role := range roles {
						d.answer(role, step)
					}
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
		alone.until(r, string(state), func(s *role.Status) bool { return s.Erasures[state] == 1 })
	})
	alone.settle(2)
	alone.fill(3)
	alone.until(r, "the third", threeSteps)

	for _, killedIn := range steps {
		t.Run(string(killedIn), func(t *testing.T) {
			t.Parallel()
			c := newCrew(t)
			c.begin("one")
			c.begin("two")
			c.twoSteps()
			leader := "one"
			carry(c.deployment, func(state deletions.State) {
				c.until(c.roles[leader], string(state), func(s *role.Status) bool { return s.Erasures[state] == 1 })
				if state == killedIn {
					c.stops["one"]()
					leader = "two"
					c.group.Lead("two")
					c.until(c.roles["two"], "the other", func(s *role.Status) bool { return s.Erasures[state] == 1 })
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
			c.until(c.roles["one"], "the first again", func(s *role.Status) bool { return s.Erasures[deletions.Verified] == 1 })
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
	c := newCrew(t)
	c.begin("one")
	c.begin("two")
	c.twoSteps()
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
