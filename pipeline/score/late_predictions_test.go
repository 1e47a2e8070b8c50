package score

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
	"lethe/scoring"
)

// standingPredictions are the newest records of predictions.v1, by key.
func standingPredictions(t *testing.T, topics *roletest.Bus) map[string]ingest.Record {
	t.Helper()
	out := make(map[string]ingest.Record)
	require.NoError(t, topics.ReadAll(t.Context(), bus.Predictions, func(rec ingest.Record) error {
		out[string(rec.Key)] = rec
		return nil
	}))
	return out
}

// Who led before hung as it gave a provisional score, and brokers get that once another process has given the final
// one: that one says it again, or the transaction would have none once the topic is compacted. So it is if the score
// came while nobody led.
func TestAFinalPredictionStandsThoughAProvisionalOneOfBeforeComesLate(t *testing.T) {
	for name, leads := range map[string]string{"while another one leads": "two", "while nobody leads": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			topics, w, group := topics(), newScenario(t, 3), roletest.NewGroup()
			startHot(t, "one", topics, group)
			stopTwo := startHotStopped(t, "two", topics, group)
			group.Lead("one")
			publish(t, topics, w, 1)
			publish(t, topics, w, 2)
			finals := func(count int) func() bool {
				return func() bool {
					got := standingPredictions(t, topics)
					for _, rec := range got {
						p, err := scoring.DecodePrediction(rec.Value)
						require.NoError(t, err)
						if !p.Final {
							return false
						}
					}
					return len(got) == count
				}
			}
			require.Eventually(t, finals(nodes), time.Minute, time.Millisecond)
			before := standingPredictions(t, topics)[string(w.graphs[2].Nodes[0].ID)]
			by, tells := wire.OwnerOf(before)
			require.True(t, tells)
			group.Lead("two")
			publish(t, topics, w, 3)
			require.Eventually(t, finals(2*nodes), time.Minute, time.Millisecond)
			// What is suppressed is left to those who erase it: a prediction that is said again might follow its deletion.
			key, hidden := twoTogether(w.graphs[3])
			command, err := w.command(wire.PhaseSuppress, []lethe.TransactionID{hidden}, 3).Records()
			require.NoError(t, err)
			require.NoError(t, topics.Write(t.Context(), bus.Control, command))
			require.Eventually(t, func() bool { return acks(t, topics)["suppressed"] == 2 }, time.Minute, time.Millisecond)
			want := standingPredictions(t, topics)
			if leads == "" {
				stopTwo()
			}
			var late []ingest.Outgoing
			for _, id := range []lethe.TransactionID{hidden, key} {
				p, err := scoring.DecodePrediction(want[string(id)].Value)
				require.NoError(t, err)
				p.Final = false
				value, err := scoring.EncodePrediction(p)
				require.NoError(t, err)
				late = append(late, ingest.Outgoing{Key: []byte(id), Value: value})
			}
			require.NoError(t, topics.Write(t.Context(), bus.Predictions, wire.OwnedBy(by, late)))
			if leads == "" {
				group.Lead("one")
			}
			require.Eventually(t, func() bool {
				return string(standingPredictions(t, topics)[string(key)].Value) == string(want[string(key)].Value)
			}, 30*time.Second, time.Millisecond)
			require.Equal(t, string(late[0].Value), string(standingPredictions(t, topics)[string(hidden)].Value))
		})
	}
}

// twoTogether are two transactions whose predictions share a partition.
func twoTogether(s *lethe.Snapshot) (one, other lethe.TransactionID) {
	of := make(map[int]lethe.TransactionID)
	for _, n := range s.Nodes {
		at := bus.PartitionOf([]byte(n.ID), 2)
		if before, found := of[at]; found {
			return before, n.ID
		}
		of[at] = n.ID
	}
	return "", ""
}

// behind is a bus of which nobody gets anything of predictions.v1 from some time on.
type behind struct {
	*roletest.Bus
	from *atomic.Bool
}

type behindTail struct {
	role.Tail
	from *atomic.Bool
}

// Follow implements role.Bus.
func (b behind) Follow(positions map[bus.TopicPartition]int64) (role.Tail, error) {
	tail, err := b.Bus.Follow(positions)
	return behindTail{tail, b.from}, err
}

// Next implements role.Tail.
func (b behindTail) Next(ctx context.Context) (bus.Batch, error) {
	for {
		batch, err := b.Tail.Next(ctx)
		if err != nil || batch.Source.Topic != bus.Predictions || !b.from.Load() {
			return batch, err
		}
	}
}

// Who leads ends before it has found that a late score stands in the place of a final one, and has done all else:
// whoever takes over finds it and says the final one again.
func TestALateProvisionalScoreOutlivesWhoLeads(t *testing.T) {
	topics, w, group := topics(), newScenario(t, 4), roletest.NewGroup()
	var from atomic.Bool
	startHot(t, "one", topics, group)
	lags := optionsFor(topics)
	lags.Bus = behind{topics, &from}
	stopTwo := startHotOn(t, "two", lags, group)
	group.Lead("one")
	finals := func(count int) func() bool {
		return func() bool {
			final := 0
			for _, rec := range standingPredictions(t, topics) {
				if p, err := scoring.DecodePrediction(rec.Value); err == nil && p.Final {
					final++
				}
			}
			return final == count
		}
	}
	publish(t, topics, w, 1)
	publish(t, topics, w, 2)
	require.Eventually(t, finals(nodes), time.Minute, time.Millisecond)
	by, tells := wire.OwnerOf(standingPredictions(t, topics)[string(w.graphs[2].Nodes[0].ID)])
	require.True(t, tells)
	group.Lead("two")
	require.Eventually(t, func() (began bool) { // else one predicts timestep 3
		require.NoError(t, topics.ReadAll(t.Context(), bus.Journal, func(rec ingest.Record) error {
			began = began || strings.Contains(string(rec.Value), `"instance":"two","kind":"epoch_began"`)
			return nil
		}))
		return began
	}, time.Minute, time.Millisecond)
	publish(t, topics, w, 3)
	require.Eventually(t, finals(2*nodes), time.Minute, time.Millisecond)
	from.Store(true)
	key := string(w.graphs[3].Nodes[0].ID)
	want := standingPredictions(t, topics)[key].Value
	p, err := scoring.DecodePrediction(want)
	require.NoError(t, err)
	p.Final = false
	value, err := scoring.EncodePrediction(p)
	require.NoError(t, err)
	late := wire.OwnedBy(by, []ingest.Outgoing{{Key: []byte(key), Value: value}})
	require.NoError(t, topics.Write(t.Context(), bus.Predictions, late))
	publish(t, topics, w, 4)
	require.Eventually(t, func() bool {
		ends, err := bus.EndsOf(t.Context(), topics, bus.Snapshots)
		require.NoError(t, err)
		graphs := bus.TopicPartition{Topic: bus.Snapshots}
		return finals(3*nodes-1)() && group.Positions()[graphs] == ends[graphs]
	}, time.Minute, time.Millisecond)
	stopTwo()
	group.Lead("one")
	require.Eventually(t, func() bool {
		return string(standingPredictions(t, topics)[key].Value) == string(want)
	}, 10*time.Second, time.Millisecond)
}
