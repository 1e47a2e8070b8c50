package acks_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/deletions"
	"lethe/deletions/acks"
	"lethe/deletions/scan"
	"lethe/pipeline/wire"
)

// acknowledged takes an acknowledgement, changed as wanted.
func acknowledged(a *acks.Acks, role, instance string, step deletions.Step, change func(*deletions.Ack)) {
	ack := deletions.NewAck("gdpr-1", role, instance, step)
	ack.Scan = &scan.Summary{Files: 1}
	change(&ack)
	a.Take(wire.Notice{Ack: &ack})
}

func keysDropped(a *acks.Acks) (keys []string) {
	for _, tombstone := range a.Drop("gdpr-1") {
		keys = append(keys, string(tombstone.Key))
	}
	return keys
}

// What a process has searched was in its directory then. The next process of the same directory may have found it
// empty, and reads the topics anew: what it has done counts, be it that it plays the role alone or shares the work.
func TestAnAcknowledgementIsOfTheProcessThatThereIs(t *testing.T) {
	a := acks.New("")
	acknowledge := func(run string) {
		acknowledged(a, acks.View, "one", deletions.StepScanned, func(ack *deletions.Ack) { ack.Run = run })
	}
	counts := func() bool {
		_, ok := a.Of("gdpr-1", 0, acks.View, deletions.StepScanned)
		require.Equal(t, !ok, len(a.Missing("gdpr-1", 0, acks.View, deletions.StepScanned)) == 1)
		return ok
	}
	plays := func(run string, since int64) {
		a.Take(wire.Notice{Instance: &wire.Instance{Role: acks.View, Identity: "one", Run: run, Since: time.Unix(since, 0)}})
	}
	plays("1", 1)
	acknowledge("1")
	require.True(t, counts())
	plays("2", 2)
	require.False(t, counts())
	acknowledge("2")
	require.True(t, counts())
	a.Take(wire.Notice{Member: &wire.Member{Role: acks.View, Identity: "one", Run: "3", Since: time.Unix(3, 0)}})
	require.False(t, counts())
	acknowledge("2")
	require.False(t, counts(), "it was on its way")
	acknowledge("3")
	require.True(t, counts())
	acknowledge("2")
	require.True(t, counts(), "what brokers get late takes nothing back")
	plays("4", 4)
	require.False(t, counts())
	acknowledge("")
	require.False(t, counts(), "it does not identify the process")
}

// What an earlier process of a directory wrote stands beside what the present one has answered, and so does what it
// said of an earlier attempt: the answer is not given twice. All of them are deleted in the end.
func TestAnAnswerThatArrivesLateTakesNoneBack(t *testing.T) {
	a := acks.New("")
	a.Take(wire.Notice{Member: &wire.Member{Role: acks.View, Identity: "one", Run: "2"}})
	answer := func(run string, attempt int) {
		acknowledged(a, acks.View, "one", deletions.StepSuppressed, func(ack *deletions.Ack) {
			ack.Run, ack.Attempt = run, attempt
		})
	}
	answer("2", 1)
	answer("1", 1)
	answer("2", 0)
	require.Empty(t, a.Missing("gdpr-1", 1, acks.View, deletions.StepSuppressed))
	_, said := a.Of("gdpr-1", 1, acks.View, deletions.StepSuppressed)
	require.True(t, said)
	require.Equal(t, []string{"ack/gdpr-1/view/one/suppressed/1", "ack/gdpr-1/view/one/suppressed/2"}, keysDropped(a))
}

// Two processes that played one role gave a receipt for copies that nobody had
// searched. What counts is the data directory that plays the role now.
func TestOnlyTheRegisteredInstanceAcknowledges(t *testing.T) {
	a := acks.New("")
	acknowledge := func(instance string, attempt int) {
		acknowledged(a, acks.Train, instance, deletions.StepPurged, func(ack *deletions.Ack) { ack.Attempt = attempt })
	}
	register := func(instance string) {
		a.Take(wire.Notice{Instance: &wire.Instance{Role: acks.Train, Identity: instance}})
	}
	by := func() string {
		ack, ok := a.Of("gdpr-1", 1, acks.Train, deletions.StepPurged)
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
	require.Len(t, keysDropped(a), 3, "everybody's acknowledgements leave the topic")
	register("one")
	require.Empty(t, by())
}

// Every member that may hold a copy is waited for, also one that is stopped, and what each
// searched is counted. One that was struck off is not, and receipts name it.
func TestEveryMemberAcknowledges(t *testing.T) {
	a := acks.New("")
	scanned := func(role, instance string, files int) {
		acknowledged(a, role, instance, deletions.StepScanned, func(ack *deletions.Ack) { ack.Scan.Files = files })
	}
	join := func(identity string) {
		a.Take(wire.Notice{Member: &wire.Member{Role: acks.Train, Identity: identity}})
	}
	strike := func(identity string) {
		a.Take(wire.Notice{Strike: &wire.Strike{Role: acks.Train, Identity: identity}})
	}
	searched := func() int {
		all, ok := a.Searched("gdpr-1", 0, deletions.StepScanned)
		if !ok {
			return -1
		}
		return all.Files
	}
	a.Take(wire.Notice{Instance: &wire.Instance{Role: acks.Train, Identity: "one", Shares: true}})
	join("one")
	join("two")
	scanned(acks.Score, "s", 1000)
	scanned(acks.Train, "stranger", 100)
	scanned(acks.Train, "one", 10)
	require.Equal(t, -1, searched(), "two has not answered")
	scanned(acks.Train, "two", 1)
	require.Equal(t, 1011, searched())
	join("three") // it came meanwhile, and may have read what is erased
	require.Equal(t, -1, searched())
	require.Empty(t, a.Gone())
	strike("three")
	require.Equal(t, 1011, searched())
	require.Equal(t, []deletions.GoneFolder{{Role: acks.Train, Instance: "three", Struck: true}}, a.Gone())
	join("three") // it is written again by a process that has not read that
	require.Equal(t, 1011, searched())
	strike("two")
	strike("one")
	require.Equal(t, -1, searched(), "nobody is left to answer for the role")
	require.Empty(t, a.All("gdpr-1", 0, acks.Train, deletions.StepScanned))
}

// The others that hold graphs answer, too, and not the one that carries the erasure out.
func TestStandbysAcknowledge(t *testing.T) {
	a := acks.New("leads")
	for _, identity := range []string{"leads", "stands by"} {
		a.Take(wire.Notice{Member: &wire.Member{Role: acks.Graphs, Identity: identity}})
	}
	scanned := func(role, instance string) {
		acknowledged(a, role, instance, deletions.StepScanned, func(*deletions.Ack) {})
	}
	scanned(acks.Train, "1")
	scanned(acks.Score, "1")
	_, ok := a.Searched("gdpr-1", 0, deletions.StepScanned)
	require.False(t, ok)
	scanned(acks.Graphs, "stands by")
	all, ok := a.Searched("gdpr-1", 0, deletions.StepScanned)
	require.True(t, ok)
	require.Equal(t, 3, all.Files)
}

// A receipt names the settings that count, not those that came last: earlier ones may be late, or written again.
func TestSettingsThatComeLateDoNotCount(t *testing.T) {
	a := acks.New("")
	hear := func(passes string, at time.Time) {
		a.Take(wire.Notice{Settings: &wire.Settings{
			Role: acks.Train, Values: map[string]string{"trainer.passes": passes}, Since: at,
		}})
	}
	began := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	hear("1", began)
	hear("2", began.Add(time.Second))
	hear("1", began)
	require.Equal(t, "2", a.Settings()[acks.Train].Values["trainer.passes"])
}
