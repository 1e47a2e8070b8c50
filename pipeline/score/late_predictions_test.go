package score

import (
	"context"
	"slices"
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

// Who led before hung as it gave a provisional score, and brokers get that once another process has given the final
// one: that one says it again, or the transaction would have none once the topic is compacted. So it is if the score
// came while nobody led.
func TestAFinalPredictionStandsThoughAProvisionalOneOfBeforeComesLate(t *testing.T) {
	for name, leads := range map[string]string{"while another one leads": "two", "while nobody leads": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			topics, w, group := topics(), newScenario(t, 3), roletest.NewGroup()
			startHot(t, "one", optionsFor(topics), group)
			stopTwo := startHot(t, "two", optionsFor(topics), group)
			group.Lead("one")
			publish(t, topics, w, 1, 2)
			finals := func(count int) func() bool {
				return func() bool {
					got := roletest.Newest(t, topics, bus.Predictions)
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
			before := roletest.Newest(t, topics, bus.Predictions)[string(w.graphs[2].Nodes[0].ID)]
			by, tells := wire.OwnerOf(before)
			require.True(t, tells)
			group.Lead("two")
			awaitEpoch(t, topics, "two")
			publish(t, topics, w, 3)
			require.Eventually(t, finals(2*nodes), time.Minute, time.Millisecond)
			// What is suppressed is left to those who erase it: a prediction that is said again might follow its deletion.
			key, hidden := twoTogether(w.graphs[3])
			commanded(t, topics, w.command(wire.PhaseSuppress, []lethe.TransactionID{hidden}, 3))
			require.Eventually(t, func() bool { return acks(t, topics)["suppressed"] == 2 }, time.Minute, time.Millisecond)
			want := roletest.Newest(t, topics, bus.Predictions)
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
				return string(roletest.Newest(t, topics, bus.Predictions)[string(key)].Value) == string(want[string(key)].Value)
			}, 30*time.Second, time.Millisecond)
			require.Equal(t, string(late[0].Value), string(roletest.Newest(t, topics, bus.Predictions)[string(hidden)].Value))
		})
	}
}

// awaitEpoch waits until a process has begun an epoch: until then the former leader predicts what comes.
func awaitEpoch(t *testing.T, topics *roletest.Bus, instance string) {
	t.Helper()
	require.Eventually(t, func() bool {
		return slices.ContainsFunc(roletest.Records(t, topics, bus.Journal), func(rec ingest.Record) bool {
			return strings.Contains(string(rec.Value), `"instance":"`+instance+`","kind":"epoch_began"`)
		})
	}, time.Minute, time.Millisecond)
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
	startHot(t, "one", optionsFor(topics), group)
	lags := optionsFor(topics)
	lags.Bus = behind{topics, &from}
	stopTwo := startHot(t, "two", lags, group)
	group.Lead("one")
	finals := func(count int) func() bool {
		return func() bool {
			final := 0
			for _, rec := range roletest.Newest(t, topics, bus.Predictions) {
				if p, err := scoring.DecodePrediction(rec.Value); err == nil && p.Final {
					final++
				}
			}
			return final == count
		}
	}
	publish(t, topics, w, 1, 2)
	require.Eventually(t, finals(nodes), time.Minute, time.Millisecond)
	by, tells := wire.OwnerOf(roletest.Newest(t, topics, bus.Predictions)[string(w.graphs[2].Nodes[0].ID)])
	require.True(t, tells)
	group.Lead("two")
	awaitEpoch(t, topics, "two")
	publish(t, topics, w, 3)
	require.Eventually(t, finals(2*nodes), time.Minute, time.Millisecond)
	from.Store(true)
	key := string(w.graphs[3].Nodes[0].ID)
	want := roletest.Newest(t, topics, bus.Predictions)[key].Value
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
		return string(roletest.Newest(t, topics, bus.Predictions)[key].Value) == string(want)
	}, 10*time.Second, time.Millisecond)
}
