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

// What an operator declared gone is in the log once, however often it is said.
func TestATakeOverIsALeafOfTheLog(t *testing.T) {
	d := deploy(t)
	require.NoError(t, d.boot())
	at := d.now.Add(time.Minute)
	for range 2 {
		d.TakeNotices([]wire.Notice{{Instance: &wire.Instance{
			Role: acks.Train, Identity: "two", Replaced: []wire.Replaced{{Identity: "one", At: at}},
		}}})
		require.NoError(t, d.Advance(d.Context()))
	}
	var found []translog.Leaf
	require.NoError(t, d.states.o.Log.Each(func(_ int64, leaf translog.Leaf) error {
		found = append(found, leaf)
		return nil
	}))
	require.Equal(t, []translog.Leaf{translog.TakeOver(acks.Train, "one", at)}, found)
}

// Whom an erasure waits for is said once, with the data directory that an operator may strike off: its process may be
// stopped, or gone.
func TestWhomAnErasureWaitsForIsSaid(t *testing.T) {
	d := deploy(t)
	require.NoError(t, d.boot())
	var log bytes.Buffer
	d.states.o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	for _, instance := range []string{"one", "two"} {
		member := wire.Member{Role: acks.Score, Identity: instance, Run: "1"}
		require.NoError(t, d.TakeNotices([]wire.Notice{{Member: &member}}))
	}
	request := lethe.ErasureRequest{RequestID: "gdpr-1", Targets: lethe.Transactions("a"), Scope: lethe.ScopeStubs}
	entry, err := deletions.NewEntry(testSecret, request, d.now)
	require.NoError(t, err)
	_, _, err = d.states.o.Ledger.TakeAll([]deletions.Entry{entry})
	require.NoError(t, err)
	_, err = d.states.o.Ledger.TransitionAll([]string{"gdpr-1"}, deletions.Accepted, nil)
	require.NoError(t, err)
	d.states.jobs.put(job{request: request})
	ack := deletions.NewAck("gdpr-1", acks.Score, "one", deletions.StepSuppressed)
	ack.Run = "1"
	require.NoError(t, d.TakeNotices([]wire.Notice{{Ack: &ack}}))

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
	ack = deletions.NewAck("gdpr-1", acks.Score, "two", deletions.StepSuppressed)
	ack.Run = "1"
	require.NoError(t, d.TakeNotices([]wire.Notice{{Ack: &ack}}))
	require.NoError(t, d.states.awaiting.look())
	require.Empty(t, d.Waits().Absent)
}

// A strike is a leaf of the log, once.
func TestAStrikeIsALeafOfTheLog(t *testing.T) {
	d := deploy(t)
	require.NoError(t, d.boot())
	at := d.now.Add(time.Minute)
	for range 2 {
		require.NoError(t, d.TakeNotices([]wire.Notice{{Strike: &wire.Strike{Role: acks.Train, Identity: "one", At: at}}}))
		require.NoError(t, d.Advance(d.Context()))
	}
	var found []translog.Leaf
	require.NoError(t, d.states.o.Log.Each(func(_ int64, leaf translog.Leaf) error {
		found = append(found, leaf)
		return nil
	}))
	require.Equal(t, []translog.Leaf{translog.StrikeOff(acks.Train, "one", at)}, found)
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
	var log bytes.Buffer
	d.states.o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	request := lethe.ErasureRequest{RequestID: "gdpr-1", Targets: lethe.Transactions("a"), Scope: lethe.ScopeStubs}
	entry, err := deletions.NewEntry(testSecret, request, d.now)
	require.NoError(t, err)
	_, _, err = d.states.o.Ledger.TakeAll([]deletions.Entry{entry})
	require.NoError(t, err)
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
