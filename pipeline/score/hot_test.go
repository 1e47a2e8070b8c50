package score

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
)

// Two processes that score together publish what one publishes alone, and leave nothing.
func TestTwoScoreAsOne(t *testing.T) {
	w := newScenario(t, 4)
	alone := topics()
	o := optionsFor(alone)
	o.Dir = t.TempDir()
	_, stop := running(t, o)
	for at := lethe.Timestep(1); at <= 4; at++ {
		publish(t, alone, w, at)
	}
	idle(t, alone)
	stop()

	together, group := topics(), roletest.NewGroup()
	for _, name := range []string{"one", "two"} {
		member, err := wire.Member{Role: roleName, Identity: name, Run: "1"}.Record()
		require.NoError(t, err)
		require.NoError(t, together.Write(t.Context(), bus.Control, []ingest.Outgoing{member}))
		startHot(t, name, together, group)
	}
	// Once all is read, each knows of the other.
	require.Eventually(t, func() bool { return together.Idle(2) }, time.Minute, time.Millisecond)
	for at := lethe.Timestep(1); at <= 4; at++ {
		publish(t, together, w, at)
	}
	want := predictions(t, alone)
	require.Eventually(t, func() bool { return len(predictions(t, together)) == len(want) }, time.Minute, time.Millisecond)
	require.Equal(t, want, predictions(t, together))
}

// startHot starts a process that leads or stands by.
func startHot(t *testing.T, name string, topics *roletest.Bus, group *roletest.Group) {
	t.Helper()
	startHotStopped(t, name, topics, group)
}

// startHotStopped is startHot of a process that may be stopped before the test ends.
func startHotStopped(t *testing.T, name string, topics *roletest.Bus, group *roletest.Group) (stop func()) {
	t.Helper()
	return startHotOn(t, name, optionsFor(topics), group)
}

// startHotOn is startHotStopped with options of its own.
func startHotOn(t *testing.T, name string, o Options, group *roletest.Group) (stop func()) {
	t.Helper()
	o.Dir, o.Instance = t.TempDir(), name
	topics, log := o.Bus, slog.New(slog.DiscardHandler)
	lead := role.NewLead(roleName, name, group.Member(name), time.Now, log)
	r, err := role.Hot(t.Context(), roleName, lead, func(ctx context.Context, s *role.Standing) (*role.Follower, error) {
		as := o
		as.Standing, as.Bus = s, s.Fenced(topics)
		return New(ctx, as)
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-ended)
		require.NoError(t, r.Close())
	})
	t.Cleanup(stop)
	return stop
}
