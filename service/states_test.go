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
)

// lifecycle is a service with timesteps 1 to 3 settled, 4 closed, with its
// labels waiting, and 5 open.
func lifecycle(t *testing.T, c configs.Config, stream *dataset.Stream) *running {
	t.Helper()
	s := start(t, c)
	settled, err := stream.Slice(1, 3)
	require.NoError(t, err)
	s.replay(settled)
	if four := step(stream, 4); four != nil {
		s.sendGraph(*four)
		s.end(bus.Transactions, 4, ingest.EncodeClose)
		s.sendLabels(*four)
	}
	s.sendGraph(*step(stream, 5))
	s.await(func(st *service.Status) bool {
		return st.LagRecords == 0 && st.Timesteps == service.TimestepCounts{Open: 1, Closed: 1, Settled: 3} &&
			st.Steps[3].Predictions > 0
	})
	return s
}

// finish settles what lifecycle left open.
func (r *running) finish(stream *dataset.Stream) *service.Status {
	r.t.Helper()
	r.end(bus.Labels, 4, ingest.EncodeSettle)
	r.end(bus.Transactions, 5, ingest.EncodeClose)
	r.sendLabels(*step(stream, 5))
	r.end(bus.Labels, 5, ingest.EncodeSettle)
	return r.await(func(st *service.Status) bool { return st.TrainedThrough == 5 && st.LagRecords == 0 })
}

func step(s *dataset.Stream, at lethe.Timestep) *dataset.Step {
	for i := range s.Steps {
		if s.Steps[i].Timestep == at {
			return &s.Steps[i]
		}
	}
	return nil
}

// without is the stream of a sender who never knew the transactions.
func without(s *dataset.Stream, ids ...lethe.TransactionID) *dataset.Stream {
	out := &dataset.Stream{Name: s.Name, FeatureCount: s.FeatureCount}
	gone := func(id lethe.TransactionID) bool { return slices.Contains(ids, id) }
	for _, step := range s.Steps {
		next := dataset.Step{Timestep: step.Timestep}
		for _, tx := range step.Transactions {
			if !gone(tx.ID) {
				next.Transactions = append(next.Transactions, tx)
			}
		}
		for _, p := range step.Payments {
			if !gone(p.Source) && !gone(p.Target) {
				next.Payments = append(next.Payments, p)
			}
		}
		for _, l := range step.Labels {
			if !gone(l.ID) {
				next.Labels = append(next.Labels, l)
			}
		}
		out.Steps = append(out.Steps, next)
	}
	return out
}

// An erasure in any state of a timestep leaves what a build without the records
// gives, once the timestep has settled.
func TestErasureInEveryState(t *testing.T) {
	stream := smallStream(t, 5, 60, 9)
	for name, timesteps := range map[string][]lethe.Timestep{
		"open": {5}, "closed": {4}, "settled": {2}, "several": {5, 2, 4, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := smallConfig(t, t.TempDir())
			m := newMirror(t, c, stream)
			m.settle(1, 2, 3)
			s := lifecycle(t, c, stream)
			var ids []lethe.TransactionID
			var forms []residue.Form
			for _, at := range timesteps {
				id := labelledIllicit(stream, at)[1]
				ids = append(ids, id)
				forms = append(forms, formsOf(t, c, stream, id)...)
			}
			f := &forgetting{running: s, m: m}
			f.forget(lethe.ScopeStubs, ids...)
			require.Empty(t, left(t, c.DataDir, forms))

			s.finish(stream)
			m.settle(4, 5)
			f.equal(m.build())
			s.clean(c.DataDir, forms)
			if name == "open" {
				// Nothing was computed from the record, so nothing at all differs from
				// a service that never had it.
				other := smallConfig(t, t.TempDir())
				never := start(t, other)
				never.replay(without(stream, ids...))
				require.Equal(t, never.newest(bus.Predictions), s.newest(bus.Predictions))
				require.Equal(t, never.newest(bus.Snapshots), s.newest(bus.Snapshots))
			}
			s.stop()
			stored(t, c, m.build())
			require.Empty(t, left(t, c.DataDir, forms))
		})
	}
}

// Erasing may empty a slice, take the last illicit label of one, or empty a
// whole timestep, of which nothing is left then: the first, one between others,
// the newest.
func TestErasureToTheLastRecord(t *testing.T) {
	t.Parallel()
	stream := smallStream(t, 4, 40, 10)
	c := smallConfig(t, t.TempDir())
	f := &forgetting{running: start(t, c), m: newMirror(t, c, stream)}
	f.replay(stream)
	f.m.settle(1, 2, 3, 4)
	f.equal(f.m.build())

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
	f.stop()
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
func (r *running) ask(records ...ingest.Outgoing) {
	r.t.Helper()
	require.NoError(r.t, r.Client().Write(r.t.Context(), bus.Erasures, records))
}

// outcome waits until a request has ended.
func (r *running) outcome(id string) deletions.State {
	r.t.Helper()
	var s deletions.Status
	require.Eventually(r.t, func() bool {
		var err error
		s, err = first(requests.Find(r.t.Context(), r.Client(), id))
		return err == nil && s.State.Final()
	}, waitFor, tick)
	return s.State
}

// outcomes are those of a request's targets, in its order.
func (r *running) outcomes(id string) (out []deletions.Outcome) {
	r.t.Helper()
	s, err := first(requests.Find(r.t.Context(), r.Client(), id))
	require.NoError(r.t, err)
	for _, o := range s.Outcomes {
		out = append(out, o.Outcome)
	}
	return out
}

// deadLetters returns the dead letters that are not withdrawn, whether the log was
// compacted since or not.
func (r *running) deadLetters() []ingesttest.Letter {
	r.t.Helper()
	var out []ingesttest.Letter
	newest := make(map[string]int64)
	read := func(fn func(ingest.Record) error) {
		require.NoError(r.t, r.Client().ReadAll(r.t.Context(), bus.DeadLetters, fn))
	}
	place := func(rec ingest.Record) string { return fmt.Sprintf("%d/%s", rec.Partition, rec.Key) }
	read(func(rec ingest.Record) error {
		newest[place(rec)] = rec.Offset
		return nil
	})
	read(func(rec ingest.Record) error {
		if control(rec) || rec.Tombstone() || newest[place(rec)] > rec.Offset {
			return nil
		}
		letter, err := ingesttest.ParseDeadLetter(rec)
		letter.Record.Value = slices.Clone(letter.Record.Value)
		out = append(out, letter)
		return err
	})
	return out
}

// first is the request that has a name, of all that were submitted under it. Others are rejected, which may be
// published before the first is known.
func first(found []deletions.Status, err error) (deletions.Status, error) {
	if err != nil {
		return deletions.Status{}, err
	}
	taken := func(s deletions.Status) bool { return s.State != deletions.Rejected }
	return found[max(0, slices.IndexFunc(found, taken))], nil
}
