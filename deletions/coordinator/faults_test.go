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

// The requests of the scenarios: two that are carried out one after the other, since
// their scopes differ, two that are carried out as one batch, and one alone.
func apart() []lethe.ErasureRequest {
	return append(alone(), lethe.ErasureRequest{
		RequestID: "two", Targets: lethe.Transactions("transaction-2"), Scope: lethe.ScopeShard,
	})
}

func together() []lethe.ErasureRequest {
	return append(alone(), lethe.ErasureRequest{
		RequestID: "two", Targets: lethe.Transactions("transaction-2", "transaction-1"), Scope: lethe.ScopeStubs,
	})
}

func alone() []lethe.ErasureRequest {
	return []lethe.ErasureRequest{
		{RequestID: "one", Targets: lethe.Transactions("transaction-1"), Scope: lethe.ScopeStubs},
	}
}

// Killed right after any call, a new process comes to the same end: the same
// receipt, and no message that a process that was not killed would not send.
func TestACrashAfterAnyCallChangesNothing(t *testing.T) {
	for name, requests := range map[string][]lethe.ErasureRequest{"apart": apart(), "together": together()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &memo{}
			undisturbed := run(t, m, requests, 0, true)
			require.Greater(t, undisturbed.calls, 50)
			every := 1
			if testing.Short() {
				every = 5
			}
			for at := 1; at <= undisturbed.calls; at += every {
				d := run(t, m, requests, at, true)
				name := fmt.Sprintf("crash after call %d", at)
				requireSame(t, undisturbed.messages(), d.messages(), name)
				for _, r := range requests {
					require.Equal(t, undisturbed.statement(r.RequestID), d.statement(r.RequestID), name)
				}
			}
		})
	}
}

// Any call may fail once, without effect: the role ends, and begins again. Only
// a search that fails is seen: verification is tried again.
func TestAnyCallMayFailOnce(t *testing.T) {
	t.Parallel()
	m := &memo{}
	undisturbed := run(t, m, alone(), 0, false)
	seen := 0
	for at := 1; at <= undisturbed.calls; at++ {
		d := run(t, m, alone(), at, false)
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

// Of two requests that are carried out together the records of one may be withdrawn, and those of the other not, where
// a batch that cannot be read may hold them. A process that began again then had not read the targets of the former,
// and waited for them without end.
func TestARequestWhoseRecordsAreWithdrawnHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	m := &memo{}
	tried := make(map[deletions.State]int)
	every := 1
	if testing.Short() {
		every = 5
	}
	calls := run(t, m, together(), 0, true).calls
	for at := 0; at < calls; at += every {
		d := deploy(t)
		d.memo = m
		d.between = func() {
			ledger := deletions.NewLedger(d.kv, nil)
			list, err := ledger.List(deletions.Swapped, deletions.Erased)
			require.NoError(t, err)
			if len(list) < 2 || list[0].State != list[1].State || list[0].Progress.Withdrawn ||
				list[1].Progress.Withdrawn {
				return
			}
			tried[list[0].State]++
			_, err = ledger.UpdateAll([]string{"one"}, func(_ int, p *deletions.Progress) { p.Withdrawn = true })
			require.NoError(t, err)
		}
		d.carryOut(together(), at+1, true)
	}
	require.NotZero(t, tried[deletions.Swapped])
	require.NotZero(t, tried[deletions.Erased])
}

// run carries out requests that come at the same time. Call number failAt
// fails, with its effect or without, and the process is started again.
func run(t *testing.T, m *memo, requests []lethe.ErasureRequest, failAt int, effect bool) *deployment {
	d := deploy(t)
	d.memo = m
	return d.carryOut(requests, failAt, effect)
}

func (d *deployment) carryOut(requests []lethe.ErasureRequest, failAt int, effect bool) *deployment {
	d.failAt, d.effect = failAt, effect
	d.bus.append(bus.Transactions, ingest.Outgoing{Key: []byte("transaction-1"), Value: []byte(`{"id":"transaction-1"}`)})
	d.bus.append(bus.Predictions, ingest.Outgoing{Key: []byte("transaction-2"), Value: []byte(`{}`)})
	for _, r := range requests {
		d.submit(r)
	}
	running := false
	for range 60 {
		if !running {
			if d.between != nil {
				d.between()
			}
			d.notes.read = 0
			if running = d.ended(d.boot()); !running {
				continue
			}
		}
		running = d.ended(d.round())
		if running && d.Counts()[deletions.Verified] == len(requests) && len(d.notes.concluded) == len(requests) {
			return d
		}
	}
	d.Fatalf("not done after call %d failed: %v", failAt, d.Counts())
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
		func() error { return d.advance() },
		d.verify,
		func() error {
			if d.Counts()[deletions.Failed] > 0 {
				d.now = d.now.Add(2 * time.Second)
			}
			return d.Tick(d.Context())
		},
		func() error { return d.advance() },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// rounds are so many, a minute apart.
func (d *deployment) rounds(n int) {
	d.Helper()
	for range n {
		require.NoError(d, d.round())
		d.now = d.now.Add(time.Minute)
	}
}

// otherRoles does what train and score do: each command is answered once.
func (d *deployment) otherRoles() {
	answered := make(map[string]int)
	var commands []*wire.Command
	reader := wire.NewNoticeReader()
	for _, rec := range d.bus.topics[bus.Control] {
		n, err := d.memo.notice(reader, rec)
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
		if o.Phase != wire.PhaseSuppress {
			list = append(list, deletions.NewAck(o.RequestID, "train", "1", deletions.StepPurged),
				deletions.NewAck(o.RequestID, "train", "1", deletions.StepErased),
				deletions.NewAck(o.RequestID, "score", "1", deletions.StepSwapped),
				deletions.NewAck(o.RequestID, "score", "1", deletions.StepErased))
		}
		if o.Phase == wire.PhaseSearch {
			list = append(list, deletions.NewAck(o.RequestID, "train", "1", deletions.StepScanned),
				deletions.NewAck(o.RequestID, "score", "1", deletions.StepScanned))
		}
		for _, a := range list {
			if attempt, known := answered[a.Key()]; known && attempt >= o.Attempt {
				continue
			}
			a.Attempt, a.Ensemble, a.Shards = o.Attempt, lethe.Digest{7}, []lethe.ShardID{1, 4}
			if a.Step == deletions.StepScanned || a.Step == deletions.StepErased {
				if a.Scan = newScan(); d.left != nil {
					a.Scan.Hits = d.left(o)
				}
			}
			answered[a.Key()] = o.Attempt
			d.answer(a)
		}
	}
}

// statement is what a request's receipt says, but for the size of what was
// searched, which repeated messages make larger.
func (d *deployment) statement(requestID string) receipt.Receipt {
	r, v, err := d.memo.receipt(d.receipts.kept[requestID])
	require.NoError(d, err)
	require.True(d, v.Valid, "%v", v.Problems)
	require.Zero(d, r.Scan.Hits)
	r.Scan, r.Searched = scan.Summary{}, nil
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
// topic and bytes. Two things are left out. Counts of a request in the states rewriting,
// swapped and erased grow while they last, and a new process announces those of then.
// Answers of other roles stay in the topic if the process stops before the end is announced.
func (d *deployment) messages() []string {
	var out []string
	for _, topic := range []bus.Topic{bus.Control, bus.ErasureStatus, bus.DeadLetters} {
		for _, rec := range d.bus.topics[topic] {
			if strings.HasPrefix(string(rec.Key), "ack/") || strings.HasPrefix(string(rec.Key), "!ledger/") {
				continue
			}
			s, err := deletions.DecodeStatus(rec.Value)
			growing := []deletions.State{deletions.Rewriting, deletions.Swapped, deletions.Erased}
			if err == nil && slices.Contains(growing, s.State) {
				out = append(out, fmt.Sprintf("%s is %s since %v", s.RequestID, s.State, s.UpdatedAt))
				continue
			}
			out = append(out, fmt.Sprintf("%s %s %s", topic, rec.Key, rec.Value))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
