package role_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/journal"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
)

// Who leads is told which records are of somebody who led no more when another one did, and, from where it took what
// stands in a topic into account, of everybody before it.
func TestRecordsOfThoseWhoLedNoMore(t *testing.T) {
	group := roletest.NewGroup()
	by := func(generation int64) ingest.Outgoing {
		o := []ingest.Outgoing{{Key: []byte("slice/0/1/0")}}
		return wire.OwnedBy(wire.Owner{Generation: generation, Instance: "it"}, o)[0]
	}
	lead := role.NewLead("graphs", "one", group.Member("one"), time.Now, slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- lead.Run(ctx) }()
	defer func() {
		stop()
		require.NoError(t, <-ended)
	}()
	require.Eventually(t, func() bool { return lead.Term() > 0 }, 30*time.Second, time.Millisecond)
	at := bus.TopicPartition{Topic: bus.Slices}
	begin := func() (*roletest.Bus, *role.Stale) {
		topics := roletest.NewBus(nil)
		require.NoError(t, topics.Write(t.Context(), bus.Slices, []ingest.Outgoing{by(1), by(2), by(1), by(2)}))
		second, err := journal.Entry{Role: "graphs", Epoch: 2, Instance: "it", Decision: journal.EpochBegan{}}.Record()
		require.NoError(t, err)
		require.NoError(t, topics.Write(t.Context(), bus.Journal, []ingest.Outgoing{second}))
		as := role.Standing{Lead: lead, Term: lead.Term()}
		require.NoError(t, as.Begin(t.Context(), topics, journal.ForAll, journal.Position{}, bus.Slices))
		s, err := as.Stale(t.Context(), topics, bus.Slices)
		require.NoError(t, err)
		return topics, s
	}
	told := func() (from int64, stale []bool) {
		topics, s := begin()
		require.NoError(t, topics.ReadAll(t.Context(), bus.Slices, func(rec ingest.Record) error {
			stale = append(stale, s.Is(rec))
			return nil
		}))
		for i, generation := range []int64{2, 3, 1, 3} {
			o := by(generation)
			stale = append(stale, s.Is(ingest.Record{
				Topic: string(bus.Slices), Offset: int64(4 + i), Key: o.Key, Headers: o.Headers,
			}))
		}
		return s.From(at), stale
	}
	from, stale := told()
	require.Equal(t, bus.FromStart, from, "nothing was announced")
	require.Equal(t, []bool{false, false, true, false, true, false, true, false}, stale)
	unproven := ingest.Record{Topic: string(bus.Slices), Offset: 9, Headers: by(1).Headers, Unproven: "forged"}
	_, began := begin()
	require.False(t, began.Is(unproven))
}
