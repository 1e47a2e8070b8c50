package kill_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/configs"
	"lethe/deletions"
	"lethe/deletions/disk"
	"lethe/deletions/scan"
	"lethe/integration/process"
	"lethe/pipeline/requests"
	"lethe/service"
	"lethe/snapshot"
)

// The ledger is written before the topics. A process that dies in between
// leaves a ledger that is ahead of what the others were told; these tests put
// it ahead by hand, because a random kill hardly ever meets the moment.

// unread submits a request while no build role is there to read it, and ends
// the process.
func (d *deployment) unread(request string, id lethe.TransactionID) {
	d.t.Helper()
	d.service = process.Start(d.t, d.bin, d.dir, d.ports, append([]string{"--roles", "train,score"}, d.args...)...)
	d.submit(request, id)
	d.service.Crash()
}

// ahead changes the ledger while no process runs.
func (d *deployment) ahead(change func(*deletions.Ledger) error) {
	d.t.Helper()
	ledger, store, err := disk.OpenLedger(vfs.Default, service.RoleDir(d.dir, configs.RoleBuild), time.Now)
	require.NoError(d.t, err)
	require.NoError(d.t, change(ledger))
	require.NoError(d.t, store.Close())
}

func (d *deployment) deploymentSecret() lethe.Secret {
	secret, err := configs.LoadOrCreateSecret(d.secret, nil)
	require.NoError(d.t, err)
	return secret
}

// transitions moves a request through states that need no progress.
func transitions(l *deletions.Ledger, request string, states ...deletions.State) error {
	for _, s := range states {
		if _, err := l.TransitionAll([]string{request}, s, nil); err != nil {
			return err
		}
	}
	return nil
}

// suppress does what precedes the state Suppressed.
func (d *deployment) suppress(id lethe.TransactionID) {
	d.t.Helper()
	store, err := snapshot.Open(filepath.Join(service.RoleDir(d.dir, configs.RoleBuild), "snapshots"), snapshot.Options{
		Config: snapshot.Defaults(), Secret: d.deploymentSecret(), FS: vfs.Default,
		TransactionPartitions: 2, LabelPartitions: 2,
	})
	require.NoError(d.t, err)
	require.NoError(d.t, store.Suppressed().Add(lethe.Transactions(id)))
	require.NoError(d.t, store.Close())
}

func testLedger(t *testing.T, bin string) {
	if testing.Short() {
		t.Skip("erases several times; left out of the short run")
	}
	d := newSetup(t, bin, 4, 60).deploy(t)
	d.start()
	published := process.Run(t, bin, "replay", "--dataset", d.dataset, "--brokers", d.service.Brokers)
	require.Zero(t, published.Code, published.Stderr)
	d.awaitReplayed()
	require.Zero(t, d.service.Stop())
	ids := victims(d.setup, 3)
	for _, c := range []struct {
		name string
		run  func()
	}{
		{"suppressed, but nobody was told", func() { d.resumeSuppressed(ids[0]) }},
		{"tried again, but nobody was asked", func() { d.resumeRetried(ids[1]) }},
		{"verified, but only the file was written", func() { d.resumeVerified(ids[2]) }},
		{"rejected, but that was not announced", func() { d.resumeRejected("never-came") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			d.t = t
			c.run()
		})
	}
}

// receive puts a request into the ledger.
func (d *deployment) receive(l *deletions.Ledger, r lethe.ErasureRequest) {
	e, err := deletions.NewEntry(d.deploymentSecret(), r, time.Now())
	require.NoError(d.t, err)
	_, _, err = l.TakeAll([]deletions.Entry{e})
	require.NoError(d.t, err)
}

// ledgerRequest asks for one transaction at scope stubs.
func ledgerRequest(name string, id lethe.TransactionID) lethe.ErasureRequest {
	return lethe.ErasureRequest{RequestID: name, Targets: lethe.Transactions(id), Scope: lethe.ScopeStubs}
}

func (d *deployment) resumeSuppressed(id lethe.TransactionID) {
	d.unread("suppressed", id)
	d.suppress(id)
	d.ahead(func(l *deletions.Ledger) error {
		d.receive(l, ledgerRequest("suppressed", id))
		return transitions(l, "suppressed", deletions.Accepted, deletions.Suppressed)
	})
	d.start()
	d.checkConcluded("suppressed")
}

func (d *deployment) resumeRetried(id lethe.TransactionID) {
	d.start()
	d.submit("again", id)
	d.follow("again", deletions.Erased)
	d.service.Crash()
	d.ahead(func(l *deletions.Ledger) error {
		_, err := l.StopAll([]string{"again"}, deletions.Failed, deletions.FailedTimeout)
		require.NoError(d.t, err)
		_, err = l.RetryAll([]string{"again"}, nil)
		return err
	})
	d.start()
	d.checkConcluded("again")
}

func (d *deployment) resumeVerified(id lethe.TransactionID) {
	d.start()
	d.submit("verified", id)
	d.follow("verified", deletions.Erased)
	d.service.Crash()
	d.ahead(func(l *deletions.Ledger) error {
		_, err := l.TransitionAll([]string{"verified"}, deletions.Verified, func(_ int, e *deletions.Entry) {
			e.Progress.Verification = &scan.Summary{Files: 1, Bytes: 1, Records: 1}
		})
		return err
	})
	require.NoError(d.t, os.WriteFile(filepath.Join(d.dir, "receipts", "verified.json"), []byte("{}\n"), 0o600))
	d.start()
	d.checkConcluded("verified")
}

func (d *deployment) resumeRejected(nobody lethe.TransactionID) {
	d.unread("rejected", nobody)
	d.ahead(func(l *deletions.Ledger) error {
		d.receive(l, ledgerRequest("rejected", nobody))
		_, err := l.StopAll([]string{"rejected"}, deletions.Rejected, deletions.RejectedScope)
		return err
	})
	d.start()
	client := d.client()
	require.Eventually(d.t, func() bool {
		s, err := first(requests.Find(d.t.Context(), client, "rejected"))
		return err == nil && s.State == deletions.Rejected
	}, 60*time.Second, 20*time.Millisecond)
}
