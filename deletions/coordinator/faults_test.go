package coordinator

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/receipt"
	"lethe/deletions/scan"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

func newScan() *scan.Summary { return &scan.Summary{Files: 1, Bytes: 10} }

// Killed right after any call, a new process comes to the same end: the same
// receipt, and no message that a process that was not killed would not send.
func TestACrashAfterAnyCallChangesNothing(t *testing.T) {
	t.Parallel()
	undisturbed := run(t, 2, 0, true)
	require.Greater(t, undisturbed.calls, 60)
	every := 1
	if testing.Short() {
		every = 5
	}
	for at := 1; at <= undisturbed.calls; at += every {
		d := run(t, 2, at, true)
		name := fmt.Sprintf("crash after call %d", at)
		requireSame(t, undisturbed.messages(), d.messages(), name)
		for _, id := range []string{"one", "two"} {
			require.Equal(t, undisturbed.statement(id), d.statement(id), name)
		}
	}
}

// Any call may fail once, without effect: the role ends, and begins again. Only
// a search that fails is seen: verification is tried again.
func TestAnyCallMayFailOnce(t *testing.T) {
	t.Parallel()
	undisturbed := run(t, 1, 0, false)
	seen := 0
	for at := 1; at <= undisturbed.calls; at++ {
		d := run(t, 1, at, false)
		name := fmt.Sprintf("call %d fails", at)
		attempts := 0
		list, err := deletions.NewLedger(d.kv, nil).List()
		require.NoError(t, err)
		for _, e := range list {
			attempts += e.Attempts
			require.Equal(t, undisturbed.statement(e.RequestID).Counts, d.statement(e.RequestID).Counts, name)
		}
		if attempts == 0 {
			requireSame(t, undisturbed.messages(), d.messages(), name)
			continue
		}
		seen++
		require.Equal(t, 1, attempts, name)
	}
	require.Greater(t, seen, 12, "every topic is searched")
}

// run carries out one request, or two that come together. Call number failAt
// fails, with its effect or without, and the process is started again.
func run(t *testing.T, requests, failAt int, effect bool) *deployment {
	d := deploy(t)
	d.failAt, d.effect = failAt, effect
	d.bus.append(bus.Transactions, ingest.Outgoing{Key: []byte("transaction-1"), Value: []byte(`{"id":"transaction-1"}`)})
	d.bus.append(bus.Predictions, ingest.Outgoing{Key: []byte("transaction-2"), Value: []byte(`{}`)})
	d.submit(lethe.ErasureRequest{RequestID: "one", Targets: lethe.Transactions("transaction-1"), Scope: lethe.ScopeStubs})
	if requests > 1 {
		d.submit(lethe.ErasureRequest{RequestID: "two", Targets: lethe.Transactions("transaction-2"),
			Scope: lethe.ScopeShard})
	}
	running := false
	for range 60 {
		if !running {
			d.notes.read = 0
			if running = d.ended(d.boot()); !running {
				continue
			}
		}
		running = d.ended(d.round())
		if running && d.Counts()[deletions.Verified] == requests && len(d.notes.concluded) == requests {
			return d
		}
	}
	t.Fatalf("not done after call %d failed: %v", failAt, d.Counts())
	return nil
}

// ended reports whether the process goes on: any error but the wanted one is a
// mistake.
func (d *deployment) ended(err error) (running bool) {
	if err != nil && !errors.Is(err, errCrash) {
		require.NoError(d, err)
	}
	return err == nil
}

// round lets everyone do what there is to do.
func (d *deployment) round() error {
	d.otherRoles()
	for _, step := range []func() error{
		d.deliver,
		func() error { return d.Advance(d.Context()) },
		d.verify,
		func() error {
			if d.Counts()[deletions.Failed] > 0 {
				d.now = d.now.Add(2 * time.Second)
			}
			return d.Tick(d.Context())
		},
		func() error { return d.Advance(d.Context()) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// otherRoles does what train and score do: each command is answered once.
func (d *deployment) otherRoles() {
	answered := make(map[string]int)
	var commands []*wire.Command
	for _, rec := range d.bus.topics[bus.ErasureStatus] {
		n, err := wire.ParseNotice(rec)
		require.NoError(d, err)
		switch {
		case n.Ack != nil:
			answered[n.Ack.Key()] = n.Ack.Attempt
		case n.Command != nil:
			commands = append(commands, n.Command)
		}
	}
	for _, o := range commands {
		list := []deletions.Ack{deletions.NewAck(o.RequestID, "score", "1", deletions.StepSuppressed)}
		if o.Phase == wire.PhasePurge {
			list = append(list, deletions.NewAck(o.RequestID, "train", "1", deletions.StepPurged),
				deletions.NewAck(o.RequestID, "train", "1", deletions.StepScanned),
				deletions.NewAck(o.RequestID, "score", "1", deletions.StepSwapped),
				deletions.NewAck(o.RequestID, "score", "1", deletions.StepScanned))
		}
		for _, a := range list {
			if attempt, known := answered[a.Key()]; known && attempt >= o.Attempt {
				continue
			}
			a.Attempt, a.Ensemble, a.Shards = o.Attempt, lethe.Digest{7}, []lethe.ShardID{1, 4}
			if a.Step == deletions.StepScanned {
				a.Scan = newScan()
			}
			answered[a.Key()] = o.Attempt
			d.answer(a)
		}
	}
}

// statement is what a request's receipt says, but for the size of what was
// searched, which repeated messages make larger.
func (d *deployment) statement(requestID string) receipt.Receipt {
	r, v, err := receipt.Verify(d.receipts.kept[requestID], nil)
	require.NoError(d, err)
	require.True(d, v.Valid, "%v", v.Problems)
	require.Zero(d, r.Scan.Hits)
	r.Scan = scan.Summary{}
	return r
}

// requireSame shows what only one of two ascending lists has.
func requireSame(t *testing.T, want, got []string, name string) {
	t.Helper()
	among := func(list []string) func(string) bool {
		return func(s string) bool {
			_, found := slices.BinarySearch(list, s)
			return found
		}
	}
	require.Empty(t, slices.DeleteFunc(slices.Clone(want), among(got)), name+": not sent")
	require.Empty(t, slices.DeleteFunc(slices.Clone(got), among(want)), name+": sent beside")
}

// messages are the distinct ones that were sent about the requests, in order of
// topic and bytes. Two things are left out. Counts of a request in state rewriting
// grow while it lasts, and a new process announces those of then. Answers of other
// roles stay in the topic if the process stops before the end is announced.
func (d *deployment) messages() []string {
	var out []string
	for _, topic := range []bus.Topic{bus.ErasureStatus, bus.DeadLetters} {
		for _, rec := range d.bus.topics[topic] {
			if strings.HasPrefix(string(rec.Key), "ack/") {
				continue
			}
			if s, err := deletions.DecodeStatus(rec.Value); err == nil && s.State == deletions.Rewriting {
				out = append(out, fmt.Sprintf("%s is %s since %v", s.RequestID, s.State, s.UpdatedAt))
				continue
			}
			out = append(out, fmt.Sprintf("%s %s %s", topic, rec.Key, rec.Value))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
