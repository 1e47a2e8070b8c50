package service_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/configs"
	"lethe/dataset"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/ingest/ingesttest"
	"lethe/internal/residue"
	"lethe/pipeline/requests"
	"lethe/service"
	"lethe/service/servicetest"
)

// lifecycle is a service with timesteps 1 to 3 settled, 4 closed, with its
// labels waiting, and 5 open.
func lifecycle(t *testing.T, c configs.Config, stream *dataset.Stream) *running {
	t.Helper()
	s := start(t, c)
	settled := servicetest.Part(t, stream, 1, 3)
	s.Replay(settled)
	if four := servicetest.Step(stream, 4); four != nil {
		sendGraph(s, *four)
		endTimestep(s, bus.Transactions, 4, ingest.EncodeClose)
		sendLabels(s, *four)
	}
	sendGraph(s, *servicetest.Step(stream, 5))
	s.Await(func(st *service.Status) bool {
		return st.LagRecords == 0 && st.Timesteps == service.TimestepCounts{Open: 1, Closed: 1, Settled: 3} &&
			st.Steps[3].Predictions > 0
	})
	return s
}

// finish settles what lifecycle left open.
func finish(r *running, stream *dataset.Stream) *service.Status {
	r.T.Helper()
	endTimestep(r, bus.Labels, 4, ingest.EncodeSettle)
	endTimestep(r, bus.Transactions, 5, ingest.EncodeClose)
	sendLabels(r, *servicetest.Step(stream, 5))
	endTimestep(r, bus.Labels, 5, ingest.EncodeSettle)
	return r.Await(func(st *service.Status) bool { return st.TrainedThrough == 5 && st.LagRecords == 0 })
}

// An erasure in any state of a timestep leaves what a build without the records
// gives, once the timestep has settled.
func TestErasureInEveryState(t *testing.T) {
	stream := servicetest.SmallStream(t, 5, 60, 9)
	for name, timesteps := range map[string][]lethe.Timestep{
		"open": {5}, "closed": {4}, "settled": {2}, "several": {5, 2, 4, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := servicetest.SmallConfig(t, t.TempDir())
			m := newMirror(t, c, stream)
			m.settle(1, 2, 3)
			s := lifecycle(t, c, stream)
			var ids []lethe.TransactionID
			var forms []residue.Form
			for _, at := range timesteps {
				id := servicetest.LabelledIllicit(stream, at)[1]
				ids = append(ids, id)
				forms = append(forms, servicetest.FormsOf(t, c, stream, id)...)
			}
			f := &forgetting{running: s, m: m}
			f.forget(lethe.ScopeStubs, ids...)
			require.Empty(t, servicetest.Left(t, c.DataDir, forms))

			finish(s, stream)
			m.settle(4, 5)
			requireEqual(f.running, m.build())
			requireClean(s, c.DataDir, forms)
			if name == "open" {
				// Nothing was computed from the record, so nothing at all differs from
				// a service that never had it.
				other := servicetest.SmallConfig(t, t.TempDir())
				never := start(t, other)
				never.Replay(servicetest.Without(stream, ids...))
				require.Equal(t, never.Newest(bus.Predictions), s.Newest(bus.Predictions))
				require.Equal(t, never.Newest(bus.Snapshots), s.Newest(bus.Snapshots))
			}
			s.Stop()
			stored(t, c, m.build())
			require.Empty(t, servicetest.Left(t, c.DataDir, forms))
		})
	}
}

// Erasing may empty a slice, take the last illicit label of one, or empty a
// whole timestep, of which nothing is left then: the first, one between others,
// the newest.
func TestErasureToTheLastRecord(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 4, 40, 10)
	c := servicetest.SmallConfig(t, t.TempDir())
	f := &forgetting{running: start(t, c), m: newMirror(t, c, stream)}
	f.Replay(stream)
	f.m.settle(1, 2, 3, 4)
	requireEqual(f.running, f.m.build())

	members := func(at lethe.Timestep, shard lethe.ShardID, label lethe.Label) []lethe.TransactionID {
		var out []lethe.TransactionID
		for _, n := range f.m.graph(at).Nodes {
			if f.m.shards[n.Pseudonym] == shard && (label == lethe.Unknown || n.Label == label) {
				out = append(out, n.ID)
			}
		}
		return out
	}
	illicit := members(3, 0, lethe.Illicit)
	require.Len(t, illicit, 1, "the quotas should give every shard one")
	f.forget(lethe.ScopeStubs, illicit...)
	f.forget(lethe.ScopeStubs, members(2, 1, lethe.Unknown)...)
	require.Empty(t, f.m.slices[2][1].Nodes)
	for i, at := range []lethe.Timestep{1, 3, 4} {
		var all []lethe.TransactionID
		for _, n := range f.m.graph(at).Nodes {
			all = append(all, n.ID)
		}
		f.forget([]lethe.Scope{lethe.ScopeShard, lethe.ScopeStubs}[i%2], all...)
	}
	f.Stop()
	stored(t, c, f.m.build())
}

// request encodes an erasure request.
func request(t testing.TB, id string, nodes ...lethe.TransactionID) ingest.Outgoing {
	t.Helper()
	r := lethe.ErasureRequest{RequestID: id, Targets: lethe.Transactions(nodes...), Scope: lethe.ScopeStubs}
	key, value, err := ingest.EncodeErasure(r, fixedTime)
	require.NoError(t, err)
	return ingest.Outgoing{Key: key, Value: value}
}

// ask writes requests in one go.
func submit(r *running, records ...ingest.Outgoing) {
	r.T.Helper()
	require.NoError(r.T, r.Client().Write(r.T.Context(), bus.Erasures, records))
}

// outcomes are those of a request's targets, in its order.
func outcomes(r *running, id string) (out []deletions.Outcome) {
	r.T.Helper()
	s, err := servicetest.First(requests.Find(r.T.Context(), r.Client(), id))
	require.NoError(r.T, err)
	for _, o := range s.Outcomes {
		out = append(out, o.Outcome)
	}
	return out
}

// deadLetters returns the dead letters that are not withdrawn, whether the log was
// compacted since or not.
func deadLetters(r *running) []ingesttest.Letter {
	r.T.Helper()
	var out []ingesttest.Letter
	newest := make(map[string]int64)
	read := func(fn func(ingest.Record) error) {
		require.NoError(r.T, r.Client().ReadAll(r.T.Context(), bus.DeadLetters, fn))
	}
	place := func(rec ingest.Record) string { return fmt.Sprintf("%d/%s", rec.Partition, rec.Key) }
	read(func(rec ingest.Record) error {
		newest[place(rec)] = rec.Offset
		return nil
	})
	read(func(rec ingest.Record) error {
		if servicetest.IsControl(rec) || rec.Tombstone() || newest[place(rec)] > rec.Offset {
			return nil
		}
		letter, err := ingesttest.ParseDeadLetter(rec)
		letter.Record.Value = slices.Clone(letter.Record.Value)
		out = append(out, letter)
		return err
	})
	return out
}
