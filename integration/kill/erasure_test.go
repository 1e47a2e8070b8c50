package kill_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/configs"
	"lethe/deletions"
	"lethe/deletions/disk"
	"lethe/ingest/bus"
	"lethe/integration/process"
	"lethe/pipeline/requests"
	"lethe/pipeline/wire"
	"lethe/service"
)

// killPoint is when an erasure's process is killed: a while after the topic
// announced a state. The step that the state announces has then begun.
type killPoint struct {
	state deletions.State
	delay time.Duration
}

// submitted is before any state: nobody may have read the request yet.
const submitted = deletions.State("submitted")

// killPoints are a moment in every state, and another further into those that
// take long enough.
func killPoints(r *rand.Rand) []killPoint {
	return []killPoint{
		{submitted, 0},
		{deletions.Received, 0},
		{deletions.Accepted, 0},
		{deletions.Suppressed, 0},
		{deletions.Rewriting, 0},
		{deletions.Rewriting, upTo(r, 80*time.Millisecond)},
		{deletions.Retraining, 0},
		{deletions.Retraining, upTo(r, 80*time.Millisecond)},
		{deletions.Swapped, 0},
		{deletions.Erased, 0},
		{deletions.Erased, upTo(r, 1500*time.Millisecond)},
		{deletions.Verified, 0},
	}
}

// victims picks one transaction per request, labelled and with payments where
// there are such, from all over the stream.
func victims(s *setup, n int) []lethe.TransactionID {
	var out []lethe.TransactionID
	for i := range n {
		step := s.stream.Steps[i%len(s.stream.Steps)]
		payments := make(map[lethe.TransactionID]int)
		for _, p := range step.Payments {
			payments[p.Source]++
			payments[p.Target]++
		}
		var labelled []lethe.TransactionID
		for _, l := range step.Labels {
			if l.Label != lethe.Unknown && !slices.Contains(out, l.ID) {
				labelled = append(labelled, l.ID)
			}
		}
		out = append(out, slices.MaxFunc(labelled, func(a, b lethe.TransactionID) int {
			return cmp.Or(cmp.Compare(payments[a], payments[b]), cmp.Compare(a, b))
		}))
	}
	return out
}

func requestID(i int) string { return fmt.Sprintf("gdpr-%d", i) }

// submit asks for an erasure through the command.
func (d *deployment) submit(request string, id lethe.TransactionID) {
	d.t.Helper()
	out := process.Run(d.t, d.bin, "erase", "submit", "--brokers", d.service.Brokers, "--node", string(id), "--request-id",
		request)
	require.Zero(d.t, out.Code, out.Stderr)
}

// follow waits until the request's state is announced, or a later one.
func (d *deployment) follow(request string, state deletions.State) {
	d.t.Helper()
	if state == submitted {
		return
	}
	tail, err := d.client().Tail(map[bus.TopicPartition]int64{{Topic: bus.ErasureStatus}: bus.FromStart})
	require.NoError(d.t, err)
	defer tail.Close()
	order := deletions.States()
	ctx, cancel := context.WithTimeout(d.t.Context(), 30*time.Second)
	defer cancel()
	for {
		batch, err := tail.Next(ctx)
		require.NoError(d.t, err, "state %s is not announced", state)
		for _, rec := range batch.Records {
			n, err := wire.ParseNotice(rec)
			require.NoError(d.t, err)
			if n.Status == nil || n.Status.RequestID != request {
				continue
			}
			require.NotContains(d.t, []deletions.State{deletions.Failed, deletions.Rejected}, n.Status.State)
			if slices.Index(order, n.Status.State) >= slices.Index(order, state) {
				return
			}
		}
	}
}

// ledgerState reads from a copy of the ledger where a killed process left a
// request; the original keeps its crash to recover from.
func (d *deployment) ledgerState(request string) deletions.State {
	d.t.Helper()
	copied := d.t.TempDir()
	require.NoError(d.t, os.CopyFS(copied, os.DirFS(service.RoleDir(d.dir, configs.RoleBuild))))
	ledger, store, err := disk.OpenLedger(vfs.Default, copied, nil)
	require.NoError(d.t, err)
	defer store.Close()
	e, err := ledger.Get(request)
	if errors.Is(err, deletions.ErrUnknownRequest) {
		return submitted
	}
	require.NoError(d.t, err)
	return e.State
}

// awaitVerified waits for the end of n requests and returns every ensemble that
// was served meanwhile, the last one last.
func (d *deployment) awaitVerified(n int) []string {
	d.t.Helper()
	var served []string
	d.service.Await(fmt.Sprintf("%d verified erasures", n), func(s service.Status) bool {
		if len(served) == 0 || served[len(served)-1] != s.EnsembleHash {
			served = append(served, s.EnsembleHash)
		}
		return s.Erasures[deletions.Verified] >= n
	})
	return served
}

// checkConcluded checks what everybody outside gets to see of a request: the
// announced state, the receipt as a file and in its topic, equal and signed by
// the deployment's key, and that the order and its answers are gone.
func (d *deployment) checkConcluded(request string) {
	d.t.Helper()
	client := d.client()
	require.Eventually(d.t, func() bool {
		s, err := first(requests.Find(d.t.Context(), client, request))
		return err == nil && s.State == deletions.Verified
	}, 20*time.Second, 20*time.Millisecond, "the request did not come to its end, or that was not announced")
	path := filepath.Join(d.dir, "receipts", request+".json")
	file, err := os.ReadFile(path)
	require.NoError(d.t, err)
	require.Equal(d.t, string(file), d.read(bus.Receipts, nil).newest[request])
	key := filepath.Join(d.dir, "keys", "receipt-ed25519.pub.pem")
	out := process.Run(d.t, d.bin, "receipt", "verify", path, "--public-key", key)
	require.Zero(d.t, out.Code, out.Stderr)
	require.NotContains(d.t, d.read(bus.Control, nil).newest, "order/"+request)
}

// testErasure erases the same transactions from two copies of a deployment, one
// of which is killed in every state of an erasure.
func testErasure(t *testing.T, bin string) {
	if testing.Short() {
		t.Skip("erases many times over; left out of the short run")
	}
	s := newSetup(t, bin, 6, 80)
	r := newRandom(t)
	points := killPoints(r)
	ids := victims(s, len(points))

	calm := s.deploy(t)
	calm.start()
	published := process.Run(t, bin, "replay", "--dataset", s.dataset, "--brokers", calm.service.Brokers)
	require.Zero(t, published.Code, published.Stderr)
	before := calm.awaitReplayed().EnsembleHash
	require.Zero(t, calm.service.Stop())
	for _, id := range ids {
		require.NotEmpty(t, calm.residue(id), "the search finds nothing even before the erasure")
	}
	killed := s.deploy(t)
	require.NoError(t, os.CopyFS(killed.dir, os.DirFS(calm.dir)))
	// The copy is readable by all, which a key must not be, nor the folder's identity.
	for _, private := range []string{"keys/receipt-ed25519.pem", "instance"} {
		require.NoError(t, os.Chmod(filepath.Join(killed.dir, private), 0o600))
	}

	hashes := []string{before}
	t.Run("undisturbed", func(t *testing.T) {
		calm.t = t
		calm.start()
		for i, id := range ids {
			calm.submit(requestID(i), id)
			served := calm.awaitVerified(i + 1)
			hashes = append(hashes, served[len(served)-1])
			require.NotEqual(t, hashes[i], hashes[i+1])
		}
		calm.verify()
	})
	t.Run("killed", func(t *testing.T) {
		killed.t = t
		killed.start()
		met := make(map[deletions.State]bool)
		for i, p := range points {
			killed.submit(requestID(i), ids[i])
			killed.follow(requestID(i), p.state)
			time.Sleep(p.delay)
			killed.service.Crash()
			died := killed.ledgerState(requestID(i))
			t.Logf("killed %v after %s was announced, in %s", p.delay.Round(time.Millisecond), p.state, died)
			met[died] = true
			killed.restart(r)
			served := killed.awaitVerified(i + 1)
			require.Subset(t, hashes[i:i+2], served, "half of an erasure was served")
			require.Equal(t, hashes[i+1], served[len(served)-1], "killed %v after %s", p.delay, p.state)
			killed.checkConcluded(requestID(i))
		}
		require.GreaterOrEqual(t, len(met), 4, "the kills met hardly any state")
		require.Equal(t, len(ids), killed.verify().Erasures)
		for _, id := range ids {
			require.Empty(t, killed.residue(id))
		}
	})
}

// first is the request that has a name, of all that were submitted under it.
func first(found []deletions.Status, err error) (deletions.Status, error) {
	if err != nil {
		return deletions.Status{}, err
	}
	return found[0], nil
}
