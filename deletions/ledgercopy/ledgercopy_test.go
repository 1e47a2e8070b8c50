package ledgercopy_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/internal/memorykv"
	"lethe/deletions/ledgercopy"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role/roletest"
)

var (
	secret = lethe.Secret{1}
	at     = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

// clock moves with every look at it.
func clock() func() time.Time {
	now := at
	return func() time.Time { now = now.Add(time.Second); return now }
}

func newLedger() *deletions.Ledger { return deletions.NewLedger(memorykv.New(), clock()) }

// announce publishes what the coordinator does: status and copy.
func announce(t *testing.T, topics *roletest.Bus, e deletions.Entry) {
	t.Helper()
	records, err := ledgercopy.Records(e)
	require.NoError(t, err)
	s := e.Status()
	value, err := s.Encode()
	require.NoError(t, err)
	require.NoError(t, topics.Write(t.Context(), bus.Control, records))
	status := []ingest.Outgoing{{Key: []byte(s.Key()), Value: value}}
	require.NoError(t, topics.Write(t.Context(), bus.ErasureStatus, status))
}

func requestFor(id string, nodes ...lethe.TransactionID) lethe.ErasureRequest {
	return lethe.ErasureRequest{RequestID: id, Targets: lethe.Transactions(nodes...)}
}

// A ledger that was lost is made again, entry by entry, however large they are; one
// that was put back from an old copy catches up.
func TestALostLedgerIsMadeAgain(t *testing.T) {
	topics, ledger := roletest.NewBus(nil), newLedger()
	var many []lethe.TransactionID
	for i := range 1000 {
		many = append(many, lethe.TransactionID(fmt.Sprint(i)))
	}
	var early deletions.Entry
	for id, nodes := range map[string][]lethe.TransactionID{"one": {"transaction-1"}, "many": many} {
		e := receive(t, ledger, requestFor(id, nodes...))
		announce(t, topics, e)
		if id == "one" {
			early = e
		}
		for _, to := range []deletions.State{deletions.Accepted, deletions.Suppressed} {
			announce(t, topics, move(t, ledger, id, to))
		}
	}
	want, err := ledger.List()
	require.NoError(t, err)
	kept, err := ledgercopy.Read(t.Context(), topics)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"many", "one"}, kept.CarriedOut)

	empty := newLedger()
	old := memorykv.New()
	data, err := early.Encode()
	require.NoError(t, err)
	old.Rows["erasure/one"] = data
	for _, l := range []*deletions.Ledger{empty, deletions.NewLedger(old, clock()), ledger} {
		uncopied, err := kept.Restore(l)
		require.NoError(t, err)
		require.Empty(t, uncopied)
		got, err := l.List()
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

// unproven is a bus whose copies nobody of the deployment wrote.
type unproven struct{ *roletest.Bus }

func (u unproven) ReadAll(ctx context.Context, t bus.Topic, fn func(ingest.Record) error) error {
	return u.Bus.ReadAll(ctx, t, func(rec ingest.Record) error {
		if ledgercopy.IsCopy(rec.Key) || deletions.IsHoldKey(string(rec.Key)) {
			rec.Unauthenticated = "it carries no code"
		}
		return fn(rec)
	})
}

// What no copy tells is not made up: the request is named. A copy that this deployment has not written is none.
func TestWhatNoCopyTellsIsLost(t *testing.T) {
	topics, ledger := roletest.NewBus(nil), newLedger()
	receive(t, ledger, requestFor("one", "transaction-1"))
	move(t, ledger, "one", deletions.Accepted)
	announce(t, topics, move(t, ledger, "one", deletions.Suppressed))
	kept, err := ledgercopy.Read(t.Context(), unproven{topics})
	require.NoError(t, err)
	_, err = kept.Restore(newLedger())
	require.ErrorIs(t, err, ledgercopy.ErrLost)
	require.ErrorContains(t, err, "one")
	uncopied, err := kept.Restore(ledger)
	require.NoError(t, err)
	require.Len(t, uncopied, 1)
}

// A copy that somebody has deleted is there until the log is compacted: it is still of
// use, and is to be written again.
func TestACopyThatWasDeletedIsWrittenAgain(t *testing.T) {
	topics, ledger := roletest.NewBus(nil), newLedger()
	e := receive(t, ledger, requestFor("one", "transaction-1"))
	announce(t, topics, e)
	records, err := ledgercopy.Records(e)
	require.NoError(t, err)
	for i := range records {
		records[i].Value, records[i].Headers = nil, nil
	}
	require.NoError(t, topics.Write(t.Context(), bus.Control, records))
	kept, err := ledgercopy.Read(t.Context(), topics)
	require.NoError(t, err)
	again := newLedger()
	uncopied, err := kept.Restore(again)
	require.NoError(t, err)
	require.Len(t, uncopied, 1)
	_, err = again.Get("one")
	require.NoError(t, err)
}

// receive puts a request into the ledger.
func receive(t *testing.T, ledger *deletions.Ledger, r lethe.ErasureRequest) deletions.Entry {
	t.Helper()
	fresh, err := deletions.NewEntry(secret, r, time.Now())
	require.NoError(t, err)
	list, _, err := ledger.TakeAll([]deletions.Entry{fresh})
	require.NoError(t, err)
	return list[0]
}

// move moves a request to a state.
func move(t *testing.T, ledger *deletions.Ledger, id string, to deletions.State) deletions.Entry {
	t.Helper()
	moved, err := ledger.TransitionAll([]string{id}, to, nil)
	require.NoError(t, err)
	return moved[0]
}

// A ledger that was lost knows its holds again, and a lift is not undone by an older copy.
func TestHoldsAreRestored(t *testing.T) {
	said := deletions.Position{At: time.UnixMilli(1000).UTC(), Offset: 4}
	h, err := deletions.NewHold(lethe.Secret{1}, "case-7", "case 7", lethe.Transactions("a"), time.Time{}, said)
	require.NoError(t, err)
	topics := roletest.NewBus(nil)
	record, err := ledgercopy.HoldRecord(h)
	require.NoError(t, err)
	require.NoError(t, topics.Write(t.Context(), bus.ErasureStatus, []ingest.Outgoing{record}))
	forged, err := ledgercopy.Read(t.Context(), unproven{topics})
	require.NoError(t, err)
	require.Empty(t, forged.Holds)
	kept, err := ledgercopy.Read(t.Context(), topics)
	require.NoError(t, err)
	require.Equal(t, map[string]deletions.Hold{"case-7": h}, kept.Holds)

	ledger := deletions.NewLedger(memorykv.New(), time.Now)
	_, err = kept.Restore(ledger)
	require.NoError(t, err)
	holds, err := ledger.Holds()
	require.NoError(t, err)
	require.Equal(t, []deletions.Hold{h}, holds)
	uncopied, err := kept.UncopiedHolds(ledger)
	require.NoError(t, err)
	require.Empty(t, uncopied)

	h.LiftedAt, h.LastChange.Offset = said.At, 5
	require.NoError(t, ledger.PutHold(h))
	_, err = kept.Restore(ledger)
	require.NoError(t, err)
	uncopied, err = kept.UncopiedHolds(ledger)
	require.NoError(t, err)
	require.Equal(t, []deletions.Hold{h}, uncopied)
}
