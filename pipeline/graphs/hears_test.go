package graphs

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
)

// cutOffBus takes no graphs.
type cutOffBus struct{ *roletest.Bus }

var errCutOff = errors.New("cut off")

func (b cutOffBus) Write(ctx context.Context, t bus.Topic, records []ingest.Outgoing) error {
	if t == bus.Snapshots {
		return errCutOff
	}
	return b.Bus.Write(ctx, t, records)
}

// A process has closed a timestep and not published it when it loses the lead. Before it leads again it only hears what
// others say; what it has to publish waits until it leads, however often it is woken, and it does not end.
func TestWhoIsToLeadOnlyHearsThoughSomethingIsDue(t *testing.T) {
	d := deploy(t)
	o := d.options(t.TempDir())
	o.Instance = "one"
	before := o
	before.Bus = cutOffBus{d.topics}
	r, err := New(t.Context(), before)
	require.NoError(t, err)
	d.fill(1)
	require.ErrorIs(t, r.Run(t.Context()), errCutOff)
	require.NoError(t, r.Close())

	group := roletest.NewGroup()
	lead := role.NewLead(roleName, o.Instance, group.Member(o.Instance), time.Now, slog.New(slog.DiscardHandler))
	go lead.Run(t.Context())
	require.Eventually(t, func() bool { return lead.Term() > 0 }, time.Minute, time.Millisecond)
	as := &role.Standing{Lead: lead}
	f, err := As(t.Context(), o, as, new(Heard))
	require.NoError(t, err)
	s, err := roletest.Begin(t.Context(), f)
	require.NoError(t, err)
	require.True(t, as.OnlyHears())
	for range 3 {
		require.NoError(t, s.Tick(t.Context()))
		_, err := s.Poll(t.Context())
		require.NoError(t, err)
	}
	require.Equal(t, 1, f.Status().Count(lethe.Closed))
	graphs, _ := d.published(bus.Snapshots)
	require.Empty(t, graphs)
	require.NoError(t, errors.Join(s.Close(), f.Close()))
}
