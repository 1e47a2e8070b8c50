package wire_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
)

// spoken are records of control.v1 in the order in which an owner wrote them.
type spoken struct {
	t    *testing.T
	by   wire.Owner
	said int64
}

func (s *spoken) say(records []ingest.Outgoing, err error) (out []ingest.Record) {
	s.t.Helper()
	require.NoError(s.t, err)
	for _, rec := range wire.Counted(s.said, wire.OwnedBy(s.by, records)) {
		out = append(out, ingest.Record{Topic: "control", Key: rec.Key, Value: rec.Value, Headers: rec.Headers})
	}
	s.said += int64(len(records))
	return out
}

func (s *spoken) command(id string, phase wire.Phase) []ingest.Record {
	c := &wire.Command{RequestID: id, Phase: phase, Suppressed: []lethe.Digest{{4}}}
	return s.say(c.Records())
}

// heard are the phases, and the deleted commands, that a reader takes from records.
func heard(t *testing.T, r *wire.NoticeReader, records ...[]ingest.Record) (out []string) {
	t.Helper()
	for _, list := range records {
		for _, rec := range list {
			n, err := r.Read(rec)
			require.NoError(t, err)
			switch {
			case n.Command != nil:
				out = append(out, n.Command.RequestID+" "+string(n.Command.Phase))
			case n.Deleted != "":
				out = append(out, n.Deleted+" deleted")
			}
		}
	}
	return out
}

// A command that was read can be written again as it is. Nobody follows it a second time: neither is suppressed what
// was taken back, nor is taken again what another request has erased since.
func TestACommandCountsOnce(t *testing.T) {
	graphs := &spoken{t: t, by: wire.Owner{Generation: 1, Instance: "one"}}
	suppress, lift := graphs.command("a", wire.PhaseSuppress), graphs.command("a", wire.PhaseLift)
	gone := graphs.say([]ingest.Outgoing{wire.CommandTombstone("a")}, nil)
	other := graphs.command("b", wire.PhasePurge)
	reader := wire.NewNoticeReader()
	require.Equal(t, []string{"a suppress", "a lift", "a deleted", "b purge"},
		heard(t, reader, suppress, lift, gone, other))
	require.Empty(t, heard(t, reader, suppress, lift, gone, other))
	require.Equal(t, []string{"b search"}, heard(t, reader, graphs.command("b", wire.PhaseSearch)))

	// Who takes over counts anew, and counts from then on.
	next := &spoken{t: t, by: wire.Owner{Generation: 2, Instance: "one"}}
	require.Equal(t, []string{"b search"}, heard(t, reader, next.command("b", wire.PhaseSearch)))
	require.Empty(t, heard(t, reader, graphs.command("b", wire.PhaseSuppress), suppress))

	// One that does not count, as of an earlier version, is not heard behind one of the same process that does.
	plain := &spoken{t: t, by: next.by, said: -1}
	require.Empty(t, heard(t, reader, plain.command("b", wire.PhaseSuppress)))
}

// Who begins to read when compaction has left nothing of a request but the ledger's copy does not follow its command
// either.
func TestACommandThatTheLedgersCopyFollowedIsOver(t *testing.T) {
	graphs := &spoken{t: t, by: wire.Owner{Generation: 1, Instance: "one"}}
	suppress := graphs.command("a", wire.PhaseSuppress)
	kept := graphs.say([]ingest.Outgoing{{Key: []byte("!ledger/a/0"), Value: []byte("{}")}}, nil)
	require.Empty(t, heard(t, wire.NewNoticeReader(), kept, suppress))
}

// ledBy is a topic to which one process writes as the leader.
type ledBy struct {
	to *topic
	by wire.Owner
}

func (l ledBy) Write(ctx context.Context, t bus.Topic, records []ingest.Outgoing) error {
	return l.to.Write(ctx, t, wire.OwnedBy(l.by, records))
}

// Who led before hung as it deleted a graph, and brokers get that once another process has published a newer one:
// that stands, as it does where the former one wrote over it. A deletion of who leads counts.
func TestADeletionOfWhoLedBeforeIsLeftOut(t *testing.T) {
	log := &topic{failAfter: -1}
	one := ledBy{log, wire.Owner{Generation: 1, Instance: "one"}}
	two := ledBy{log, wire.Owner{Generation: 2, Instance: "two"}}
	graph := wire.Message{Key: wire.Key{Kind: wire.KindSnapshot, Timestep: 3}, Revision: 1, Payload: []byte("of one")}
	gone := wire.Message{Key: graph.Key, Deleted: true}
	publish := func(by ledBy, m wire.Message) { require.NoError(t, wire.Publish(t.Context(), by, 1, m)) }
	publish(one, graph)
	publish(one, gone)
	graph.Revision, graph.Payload = 2, []byte("of two")
	publish(two, graph)
	publish(one, gone)
	publish(two, gone)
	read, err := wire.NewReader().Read(bus.Batch{Records: log.logs[0]})
	require.NoError(t, err)
	var got []string
	for _, m := range read {
		if m.Deleted {
			require.Equal(t, gone, m.Message)
			got = append(got, "gone")
		} else {
			got = append(got, string(m.Payload))
		}
	}
	require.Equal(t, []string{"of one", "gone", "of two", "gone"}, got)
}

// Whoever begins to read behind what the present leader wrote has not read of it. Where that took over, as it has said,
// tells what is late of those before; what they wrote earlier counts.
func TestWhatIsLateIsToldWhereReadingBegins(t *testing.T) {
	log := &topic{failAfter: -1}
	one := ledBy{log, wire.Owner{Generation: 1, Instance: "one"}}
	two := ledBy{log, wire.Owner{Generation: 2, Instance: "two"}}
	gone := wire.Message{Key: wire.Key{Kind: wire.KindSnapshot, Timestep: 3}, Deleted: true}
	require.NoError(t, wire.Publish(t.Context(), one, 1, gone))
	from := int64(len(log.logs[0]))
	late := gone
	late.Key.Timestep = 4
	require.NoError(t, wire.Publish(t.Context(), one, 1, late))
	late.Key.Timestep = 5
	require.NoError(t, wire.Publish(t.Context(), two, 1, late))

	leaders := new(wire.Leaders)
	leaders.Began("graphs", one.by.Generation, nil)
	leaders.Began("graphs", two.by.Generation, map[string]int64{"snapshots.v1/0": from, "slices.v1/0": 0})
	reader := wire.NewReader().LedBy(leaders)
	source := bus.TopicPartition{Topic: bus.Snapshots}
	read, err := reader.Read(bus.Batch{Source: source, Records: log.logs[0]})
	require.NoError(t, err)
	var got []lethe.Timestep
	for _, m := range read {
		got = append(got, m.Key.Timestep)
	}
	require.Equal(t, []lethe.Timestep{3, 5}, got)
}

// Which record is late follows from where topics ended as epochs began, wherever reading begins, and from the records
// that were read before where the journal was not read as far.
func TestLateRecordsAreToldByEpochs(t *testing.T) {
	const at = "slices.v1/0"
	newLeaders := func() *wire.Leaders {
		leaders := new(wire.Leaders)
		for i, end := range []int64{0, 10, 12} {
			leaders.Began("graphs", int64(i+1), map[string]int64{at: end})
		}
		leaders.Began("graphs", 2, map[string]int64{at: 0}) // it is known
		return leaders
	}
	read := func(leaders *wire.Leaders, epoch, offset int64) bool {
		by := wire.Owner{Generation: epoch, Instance: "it"}
		records := wire.OwnedBy(by, []ingest.Outgoing{{Key: []byte("slice/0/1/0")}})
		return leaders.Stale(bus.Slices, ingest.Record{Offset: offset, Headers: records[0].Headers})
	}
	for _, tt := range []struct {
		epoch, offset int64
		stale         bool
	}{
		{1, 9, false}, {1, 10, true}, {1, 12, true}, {2, 10, false}, {2, 11, false}, {2, 12, true}, {3, 12, false},
		{4, 12, false},
	} {
		require.Equal(t, tt.stale, read(newLeaders(), tt.epoch, tt.offset), "%+v", tt)
	}
	// Predictions are score's, whose epochs are others.
	leaders, prediction := newLeaders(), ingest.Record{Offset: 12, Headers: wire.OwnedBy(
		wire.Owner{Generation: 1, Instance: "it"}, []ingest.Outgoing{{Key: []byte("a")}})[0].Headers}
	require.False(t, leaders.Stale(bus.Predictions, prediction))
	leaders.Began("score", 2, map[string]int64{"predictions.v1/0": 12})
	require.True(t, leaders.Stale(bus.Predictions, prediction))
	ahead := newLeaders()
	require.False(t, read(ahead, 5, 13))
	require.True(t, read(ahead, 3, 14))
	forged := ingest.Record{Offset: 15, Unauthenticated: "forged"}
	require.False(t, ahead.Stale(bus.Slices, forged))
	require.False(t, (*wire.Leaders)(nil).Stale(bus.Slices, forged))
}
