package coordinator

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/acks"
	"lethe/deletions/batch"
	"lethe/deletions/scan"
	"lethe/deletions/search"
	"lethe/deletions/translog"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// What an operator declared gone or has struck off is in the log once, however often it is said.
func TestWhatOperatorsDeclareIsALeafOfTheLog(t *testing.T) {
	for name, c := range map[string]struct {
		said func(at time.Time) wire.Notice
		want func(role, identity string, at time.Time) translog.Operator
	}{
		"take-over": {func(at time.Time) wire.Notice {
			return wire.Notice{Instance: &wire.Instance{
				Role: acks.Train, Identity: "two", Replaced: []wire.Replaced{{Identity: "one", At: at}},
			}}
		}, translog.TakeOver},
		"strike": {func(at time.Time) wire.Notice {
			return wire.Notice{Strike: &wire.Strike{Role: acks.Train, Identity: "one", At: at}}
		}, translog.StrikeOff},
	} {
		t.Run(name, func(t *testing.T) {
			d := deploy(t)
			require.NoError(t, d.boot())
			at := d.now.Add(time.Minute)
			for range 2 {
				require.NoError(t, d.TakeNotices([]wire.Notice{c.said(at)}))
				require.NoError(t, d.Advance(d.Context()))
			}
			var found []translog.Leaf
			require.NoError(t, d.states.o.Log.Each(func(_ int64, leaf translog.Leaf) error {
				found = append(found, leaf)
				return nil
			}))
			require.Equal(t, []translog.Leaf{c.want(acks.Train, "one", at)}, found)
		})
	}
}

// inLedger puts a request into the ledger, as of a process before.
func (d *deployment) inLedger() lethe.ErasureRequest {
	d.Helper()
	request := lethe.ErasureRequest{RequestID: "gdpr-1", Targets: lethe.Transactions("a"), Scope: lethe.ScopeStubs}
	entry, err := deletions.NewEntry(testSecret, request, d.now)
	require.NoError(d, err)
	_, _, err = d.states.o.Ledger.TakeAll([]deletions.Entry{entry})
	require.NoError(d, err)
	return request
}

// logged is what is logged from now on.
func (d *deployment) logged() *bytes.Buffer {
	log := new(bytes.Buffer)
	d.states.o.Logger = slog.New(slog.NewTextHandler(log, nil))
	return log
}

// Whom an erasure waits for is said once, with the data directory that an operator may strike off: its process may be
// stopped, or gone.
func TestWhomAnErasureWaitsForIsSaid(t *testing.T) {
	d := deploy(t)
	require.NoError(t, d.boot())
	log := d.logged()
	for _, instance := range []string{"one", "two"} {
		member := wire.Member{Role: acks.Score, Identity: instance, Run: "1"}
		require.NoError(t, d.TakeNotices([]wire.Notice{{Member: &member}}))
	}
	request := d.inLedger()
	_, err := d.states.o.Ledger.TransitionAll([]string{"gdpr-1"}, deletions.Accepted, nil)
	require.NoError(t, err)
	d.states.jobs.put(job{request: request})
	suppressed := func(instance string) {
		ack := deletions.NewAck("gdpr-1", acks.Score, instance, deletions.StepSuppressed)
		ack.Run = "1"
		require.NoError(t, d.TakeNotices([]wire.Notice{{Ack: &ack}}))
	}
	suppressed("one")

	require.NoError(t, d.states.awaiting.look())
	require.Empty(t, log.String(), "it may be on its way")
	d.now = d.now.Add(time.Minute)
	for range 2 {
		require.NoError(t, d.states.awaiting.look())
	}
	require.Equal(t, 1, strings.Count(log.String(), "an erasure waits"), log.String())
	require.Len(t, d.states.awaiting.waits.Absent, 1)
	require.Equal(t, "two", d.states.awaiting.waits.Absent[0].Instance)
	require.Contains(t, log.String(), "request_id=gdpr-1 state=accepted role=score instance=two")
	require.Equal(t, []deletions.AbsentDirectory{{Role: acks.Score, Instance: "two", Since: d.now.Add(-time.Minute)}},
		d.Waits().Absent)
	suppressed("two")
	require.NoError(t, d.states.awaiting.look())
	require.Empty(t, d.Waits().Absent)
}

// Who says that he shares a role before the last search has ended may have read what is erased, also
// if nobody has read of him when it ends. He is waited for.
func TestWhoJoinsBeforeTheSearchEndsIsWaitedFor(t *testing.T) {
	d := deploy(t)
	join := func(identity string) {
		record, err := wire.Member{Role: acks.Train, Identity: identity}.Record()
		require.NoError(t, err)
		d.bus.append(bus.Control, record)
	}
	join("1")
	d.untilSearched()
	require.Equal(t, 1, d.Counts()[deletions.Erased])
	require.NotNil(t, d.waiting)
	join("late")
	require.NoError(t, d.verify())
	require.NoError(t, d.advance())
	require.Equal(t, 1, d.Counts()[deletions.Erased], "one who joined before the end has not answered")

	ack := deletions.NewAck("gdpr-1", acks.Train, "late", deletions.StepScanned)
	ack.Scan = &scan.Summary{Files: 1}
	d.answer(ack)
	require.NoError(t, d.deliver())
	require.NoError(t, d.advance())
	require.Equal(t, 1, d.Counts()[deletions.Verified])
}

// W128: the record of a request was replaced in erasures.v1 while no process ran. That is logged once, with the remedy.
func TestARequestWhoseRecordIsGoneIsReported(t *testing.T) {
	d := deploy(t)
	require.NoError(t, d.boot())
	log := d.logged()
	request := d.inLedger()
	require.NoError(t, d.states.awaiting.look())
	require.Empty(t, log.String(), "it may not be read yet")
	d.now = d.now.Add(time.Minute)
	for range 2 {
		require.NoError(t, d.states.awaiting.look())
	}
	require.Equal(t, 1, strings.Count(log.String(), "submit the same request again"), log.String())

	log.Reset()
	d.states.jobs.put(job{request: request})
	d.now = d.now.Add(time.Minute)
	require.NoError(t, d.states.awaiting.look())
	require.Empty(t, log.String())
}

// Receipts name every data directory that was searched, and none that was struck off.
func TestSearchedDirectoriesAreNamed(t *testing.T) {
	d := deploy(t)
	require.NoError(t, d.boot())
	for _, one := range []struct{ role, instance string }{{acks.Score, "s"}, {acks.Train, "1"}, {acks.Train, "2"}} {
		ack := deletions.NewAck("gdpr-1", one.role, one.instance, deletions.StepScanned)
		ack.Scan = &scan.Summary{Files: 7}
		require.NoError(t, d.TakeNotices([]wire.Notice{
			{Member: &wire.Member{Role: one.role, Identity: one.instance}}, {Ack: &ack},
		}))
	}
	require.NoError(t, d.TakeNotices([]wire.Notice{{Strike: &wire.Strike{Role: acks.Train, Identity: "1"}}}))
	var named []string
	for _, place := range searchedBy(d.states.acks, batch.Of(deletions.Entry{RequestID: "gdpr-1"}), &search.Findings{}) {
		named = append(named, place.Place+" "+place.Instance)
	}
	require.Equal(t, []string{"train 2", "score s"}, named)
}
