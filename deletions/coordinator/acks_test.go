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
	"lethe/deletions/internal/memorykv"
	"lethe/deletions/scan"
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
			Role: trainRole, Identity: "two", Replaced: []wire.Replaced{{Identity: "one", At: at}},
		}}})
		require.NoError(t, d.Advance(d.Context()))
	}
	var found []translog.Leaf
	require.NoError(t, d.states.o.Log.Each(func(_ int64, leaf translog.Leaf) error {
		found = append(found, leaf)
		return nil
	}))
	require.Equal(t, []translog.Leaf{translog.TakeOver(trainRole, "one", at)}, found)
}

// Whom an erasure waits for is said once, with the data directory that an operator may strike off: its process may be
// stopped, or gone.
func TestWhomAnErasureWaitsForIsSaid(t *testing.T) {
	d := deploy(t)
	require.NoError(t, d.boot())
	var log bytes.Buffer
	d.states.o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	for _, instance := range []string{"one", "two"} {
		member := wire.Member{Role: scoreRole, Identity: instance, Run: "1"}
		require.NoError(t, d.TakeNotices([]wire.Notice{{Member: &member}}))
	}
	request := lethe.ErasureRequest{RequestID: "gdpr-1", Targets: lethe.Transactions("a"), Scope: lethe.ScopeStubs}
	entry, err := deletions.NewEntry(testSecret, request, d.now)
	require.NoError(t, err)
	_, err = d.states.o.Ledger.Take(entry)
	require.NoError(t, err)
	_, err = d.states.o.Ledger.TransitionAll([]string{"gdpr-1"}, deletions.Accepted, nil)
	require.NoError(t, err)
	ack := deletions.NewAck("gdpr-1", scoreRole, "one", deletions.StepSuppressed)
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
	require.Equal(t, []deletions.AbsentDirectory{{Role: scoreRole, Instance: "two", Since: d.now.Add(-time.Minute)}},
		d.Waits().Absent)
	ack = deletions.NewAck("gdpr-1", scoreRole, "two", deletions.StepSuppressed)
	require.NoError(t, d.TakeNotices([]wire.Notice{{Ack: &ack}}))
	require.NoError(t, d.states.awaiting.look())
	require.Empty(t, d.Waits().Absent)
}

// What a process has searched was in its directory then. The next process of the same directory may have found it
// empty, and reads the topics anew: what it has done counts, be it that it plays the role alone or shares the work.
func TestAnAcknowledgementIsOfTheProcessThatThereIs(t *testing.T) {
	c := withoutRequests()
	hear := func(n wire.Notice) { require.NoError(t, c.TakeNotices([]wire.Notice{n})) }
	acknowledge := func(run string) {
		ack := deletions.NewAck("gdpr-1", viewRole, "one", deletions.StepScanned)
		ack.Run = run
		hear(wire.Notice{Ack: &ack})
	}
	counts := func() bool {
		_, ok := c.states.acks.of("gdpr-1", 0, viewRole, deletions.StepScanned)
		require.Equal(t, !ok, len(c.states.acks.missing("gdpr-1", 0, viewRole, deletions.StepScanned)) == 1)
		return ok
	}
	hear(wire.Notice{Instance: &wire.Instance{Role: viewRole, Identity: "one", Run: "1", Since: time.Unix(1, 0)}})
	acknowledge("1")
	require.True(t, counts())
	hear(wire.Notice{Instance: &wire.Instance{Role: viewRole, Identity: "one", Run: "2", Since: time.Unix(2, 0)}})
	require.False(t, counts())
	acknowledge("2")
	require.True(t, counts())
	hear(wire.Notice{Member: &wire.Member{Role: viewRole, Identity: "one", Run: "3", Since: time.Unix(3, 0)}})
	require.False(t, counts())
	acknowledge("2")
	require.False(t, counts(), "it was on its way")
	acknowledge("3")
	require.True(t, counts())
	acknowledge("2")
	require.True(t, counts(), "what brokers get late takes nothing back")
	hear(wire.Notice{Instance: &wire.Instance{Role: viewRole, Identity: "one", Run: "4", Since: time.Unix(4, 0)}})
	require.False(t, counts())
	acknowledge("")
	require.True(t, counts(), "an earlier version does not tell")
}

// What an earlier process of a directory wrote stands beside what the present one has answered, and so does what it
// said of an earlier attempt: the answer is not given twice. All of them are deleted in the end.
func TestAnAnswerThatArrivesLateTakesNoneBack(t *testing.T) {
	a := newAcks("")
	a.members.Take(wire.Notice{Member: &wire.Member{Role: viewRole, Identity: "one", Run: "2"}})
	answer := func(run string, attempt int) {
		ack := deletions.NewAck("gdpr-1", viewRole, "one", deletions.StepSuppressed)
		ack.Run, ack.Attempt = run, attempt
		a.take(ack)
	}
	answer("2", 1)
	answer("1", 1)
	answer("2", 0)
	require.Empty(t, a.missing("gdpr-1", 1, viewRole, deletions.StepSuppressed))
	_, said := a.of("gdpr-1", 1, viewRole, deletions.StepSuppressed)
	require.True(t, said)
	var keys []string
	for _, tombstone := range a.drop("gdpr-1") {
		keys = append(keys, string(tombstone.Key))
	}
	require.Equal(t, []string{"ack/gdpr-1/view/one/suppressed/1", "ack/gdpr-1/view/one/suppressed/2"}, keys)
}

// withoutRequests is a coordinator that hears others before there is a request.
func withoutRequests() *Coordinator {
	out := &outbox{ledger: deletions.NewLedger(memorykv.New(), nil)}
	return &Coordinator{states: &states{acks: newAcks(""), out: out}}
}

// Two processes that played one role gave a receipt for copies that nobody had
// searched. What counts is the data directory that plays the role now.
func TestOnlyTheRegisteredInstanceAcknowledges(t *testing.T) {
	c := withoutRequests()
	acknowledge := func(instance string, attempt int) {
		ack := deletions.NewAck("gdpr-1", trainRole, instance, deletions.StepPurged)
		ack.Attempt = attempt
		require.NoError(t, c.TakeNotices([]wire.Notice{{Ack: &ack}}))
	}
	register := func(instance string) {
		require.NoError(t, c.TakeNotices([]wire.Notice{{Instance: &wire.Instance{Role: trainRole, Identity: instance}}}))
	}
	by := func() string {
		ack, ok := c.states.acks.of("gdpr-1", 1, trainRole, deletions.StepPurged)
		require.Equal(t, ok, ack.Instance != "")
		return ack.Instance
	}
	register("one")
	acknowledge("two", 1)
	require.Empty(t, by())
	acknowledge("one", 1)
	require.Equal(t, "one", by())
	register("two") // it takes over; what it said before counts
	require.Equal(t, "two", by())
	register("three")
	require.Empty(t, by())
	acknowledge("three", 0)
	require.Empty(t, by(), "an earlier attempt")
	acknowledge("one", 1)
	require.Empty(t, by())

	var keys []string
	for _, tombstone := range c.states.acks.drop("gdpr-1") {
		keys = append(keys, string(tombstone.Key))
	}
	require.Len(t, keys, 3, "everybody's acknowledgements leave the topic")
	register("one")
	require.Empty(t, by())
}

// Every member that may hold a copy is waited for, also one that is stopped, and what each
// searched is counted. One that was struck off is not, and receipts name it.
func TestEveryMemberAcknowledges(t *testing.T) {
	c := withoutRequests()
	c.states.verification = &Verification{states: c.states}
	b := batch{leader: "gdpr-1", members: []deletions.Entry{{RequestID: "gdpr-1"}}}
	scanned := func(role, instance string, files int) {
		ack := deletions.NewAck("gdpr-1", role, instance, deletions.StepScanned)
		ack.Scan = &scan.Summary{Files: files}
		require.NoError(t, c.TakeNotices([]wire.Notice{{Ack: &ack}}))
	}
	join := func(identity string) {
		require.NoError(t, c.TakeNotices([]wire.Notice{{Member: &wire.Member{Role: trainRole, Identity: identity}}}))
	}
	strike := func(identity string) {
		require.NoError(t, c.TakeNotices([]wire.Notice{{Strike: &wire.Strike{Role: trainRole, Identity: identity}}}))
	}
	searched := func() int {
		all, ok := c.states.acks.searchedBy(b, deletions.StepScanned)
		if !ok {
			return -1
		}
		return all.Files
	}
	shares := &wire.Instance{Role: trainRole, Identity: "one", Shares: true}
	require.NoError(t, c.TakeNotices([]wire.Notice{{Instance: shares}}))
	join("one")
	join("two")
	scanned(scoreRole, "s", 1000)
	scanned(trainRole, "stranger", 100)
	scanned(trainRole, "one", 10)
	require.Equal(t, -1, searched(), "two has not answered")
	scanned(trainRole, "two", 1)
	require.Equal(t, 1011, searched())
	join("three") // it came meanwhile, and may have read what is erased
	require.Equal(t, -1, searched())
	require.Empty(t, c.states.acks.gone())
	strike("three")
	require.Equal(t, 1011, searched())
	require.Equal(t, []deletions.GoneFolder{{Role: trainRole, Instance: "three", Struck: true}}, c.states.acks.gone())
	join("three") // it is written again by a process that has not read that
	require.Equal(t, 1011, searched())
	strike("two")
	strike("one")
	require.Equal(t, -1, searched(), "nobody is left to answer for the role")

	require.Equal(t, []deletions.PlaceSearch{
		{Place: scoreRole, Instance: "s", Summary: scan.Summary{Files: 1000}},
	}, c.states.verification.searched(b, &findings{}))
}

// A strike is a leaf of the log, once.
func TestAStrikeIsALeafOfTheLog(t *testing.T) {
	d := deploy(t)
	require.NoError(t, d.boot())
	at := d.now.Add(time.Minute)
	for range 2 {
		require.NoError(t, d.TakeNotices([]wire.Notice{{Strike: &wire.Strike{Role: trainRole, Identity: "one", At: at}}}))
		require.NoError(t, d.Advance(d.Context()))
	}
	var found []translog.Leaf
	require.NoError(t, d.states.o.Log.Each(func(_ int64, leaf translog.Leaf) error {
		found = append(found, leaf)
		return nil
	}))
	require.Equal(t, []translog.Leaf{translog.StrikeOff(trainRole, "one", at)}, found)
}

// Who says that he shares a role before the last search has ended may have read what is erased, also
// if nobody has read of him when it ends. He is waited for.
func TestWhoJoinsBeforeTheSearchEndsIsWaitedFor(t *testing.T) {
	d := deploy(t)
	join := func(identity string) {
		record, err := wire.Member{Role: trainRole, Identity: identity}.Record()
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

	ack := deletions.NewAck("gdpr-1", trainRole, "late", deletions.StepScanned)
	ack.Scan = &scan.Summary{Files: 1}
	d.answer(ack)
	require.NoError(t, d.deliver())
	require.NoError(t, d.advance())
	require.Equal(t, 1, d.Counts()[deletions.Verified])
}

// The others that hold graphs answer, too, and not the one that carries the erasure out.
func TestStandbysAcknowledge(t *testing.T) {
	a := newAcks("leads")
	for _, identity := range []string{"leads", "stands by"} {
		a.members.Take(wire.Notice{Member: &wire.Member{Role: graphsRole, Identity: identity}})
	}
	scanned := func(role, instance string) {
		ack := deletions.NewAck("gdpr-1", role, instance, deletions.StepScanned)
		ack.Scan = &scan.Summary{Files: 1}
		a.take(ack)
	}
	b := batch{leader: "gdpr-1", members: []deletions.Entry{{RequestID: "gdpr-1"}}}
	scanned(trainRole, "1")
	scanned(scoreRole, "1")
	_, ok := a.searchedBy(b, deletions.StepScanned)
	require.False(t, ok)
	scanned(graphsRole, "stands by")
	all, ok := a.searchedBy(b, deletions.StepScanned)
	require.True(t, ok)
	require.Equal(t, 3, all.Files)
}
