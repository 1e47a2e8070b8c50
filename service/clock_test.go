package service_test

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/ingest/bus"
	"lethe/service"
	"lethe/service/servicetest"
)

// settableClock is the machine's clock, whose time of day can be set back while the
// monotonic time goes on, as settimeofday does. The clock of this machine is not ours to
// set, a time namespace moves only the monotonic time, and Go programs ask the kernel
// past the C library, so that no preloaded library can tell another process a time of
// day: so all roles run in this process with a clock that is given to them.
type settableClock struct{ back atomic.Int64 }

func (c *settableClock) setBack(d time.Duration) { c.back.Add(int64(d / time.Second)) }

// Now takes seconds off the time of day, which package time keeps above 30 bits of
// nanoseconds in the first word of a time that has a monotonic reading too.
func (c *settableClock) Now() time.Time {
	now := time.Now()
	*(*uint64)(unsafe.Pointer(&now)) -= uint64(c.back.Load()) << 30
	return now
}

// The clock is set back by hours in the middle of erasures: each goes on at once, and what
// is signed holds together.
func TestTheClockIsSetBackDuringErasures(t *testing.T) {
	if testing.Short() {
		t.Skip("a clock that is set back races with nothing")
	}
	t.Parallel()
	clock := &settableClock{}
	before := clock.Now()
	clock.setBack(time.Hour)
	require.InDelta(t, -time.Hour, clock.Now().Round(0).Sub(before.Round(0)), float64(time.Minute))
	require.Less(t, clock.Now().Sub(before).Abs(), time.Minute, "monotonic time goes on")

	stream := servicetest.SmallStream(t, 4, 60, 17)
	c := servicetest.SmallConfig(t, t.TempDir())
	c.Erasure.BatchWindow, c.Erasure.VerifyTimeout = 20*time.Second, 2*time.Second
	s := servicetest.StartAt(t, c, clock.Now)
	part := servicetest.Part(t, stream, 1, 3)
	s.Replay(part)
	m := newMirror(t, c, stream)
	m.settle(1, 2, 3)
	ids := servicetest.LabelledIllicit(stream, 2)

	// While it waits for others of its batch. It is alone, so it waits a second.
	submit(s, request(t, "waiting", ids[0]))
	s.Await(func(st *service.Status) bool { return st.Erasures[deletions.Suppressed] == 1 })
	clock.setBack(3 * time.Hour)
	began := time.Now()
	require.Equal(t, deletions.Verified, s.Outcome("waiting"))
	require.Less(t, time.Since(began), time.Minute)

	// While it has failed, because there is a copy, and is to be tried again.
	planted := filepath.Join(c.DataDir, "score", "copy.bak")
	require.NoError(t, os.WriteFile(planted, []byte(ids[1]), 0o600))
	submit(s, request(t, "failed", ids[1]))
	s.Await(func(st *service.Status) bool { return st.Erasures[deletions.Failed] == 1 })
	clock.setBack(3 * time.Hour)
	require.NoError(t, os.Remove(planted))
	began = time.Now()
	require.Equal(t, deletions.Verified, s.Outcome("failed"))
	require.Less(t, time.Since(began), time.Minute)

	// The stream goes on, and everything is as if nothing had been.
	m.forget(lethe.ScopeStubs, ids[0])
	m.forget(lethe.ScopeStubs, ids[1])
	rest := servicetest.Part(t, stream, 4, 4)
	s.Replay(rest)
	m.settle(4)
	requireEqual(s, m.build())
	for _, id := range []string{"waiting", "failed"} {
		r := servicetest.Receipt(t, c, id)
		require.True(t, r.Elapsed.Ascending())
		require.False(t, r.VerifiedAt.Before(r.RequestedAt))
	}
	require.Empty(t, s.Newest(bus.DeadLetters))
	s.Stop()
	stored(t, c, m.build())
}
