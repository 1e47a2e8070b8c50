package score

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/metrics/events"
	"lethe/partition/onehop"
	"lethe/pipeline/role/roletest"
	"lethe/scoring"
	"lethe/scoring/ensemble"
	"lethe/trainer"
)

// arriving are arrivals over topics in memory, with an ensemble that has learnt from the
// timesteps of a scenario but the last.
type arriving struct {
	*arrivals
	t      *testing.T
	topics *roletest.Bus
	w      *scenario
	by     *ensemble.Ensemble
	offset int64
}

func newArriving(t *testing.T, model string, mode onehop.Mode, listener events.Listener) *arriving {
	t.Helper()
	a := &arriving{t: t, topics: topics(), w: newScenario(t, 3)}
	o := optionsFor(a.topics)
	o.MaxTimestepJump = 1000
	o.Scoring.Provisional, o.OneHop, o.Listener = true, mode, events.Tee(listener)
	config := trainer.DefaultsOf(model)
	config.Seed = 5
	config.Trees.MinChildRows = 1
	a.w.oneHop = mode
	o.Layout = ensemble.PerShard(config, shards)
	var err error
	a.arrivals, err = newArrivals(o)
	require.NoError(t, err)
	models := make([]*trainer.Checkpoint, shards)
	for shard := range models {
		var learnt []*lethe.Slice
		for at := lethe.Timestep(1); at < 3; at++ {
			learnt = append(learnt, a.w.slices(at)[shard])
		}
		models[shard], err = a.predictor.runner.Column(lethe.ShardID(shard)).Newest(t.Context(), nil, learnt)
		require.NoError(t, err)
	}
	a.by, err = ensemble.Of(models, nil)
	require.NoError(t, err)
	require.NoError(t, a.serve(a.by))
	require.NoError(t, a.close(t.Context(), a.w.graphs[2]))
	return a
}

// records are those of a timestep's graph: its transactions, then its payments.
func (a *arriving) records(at lethe.Timestep) (out []ingest.Record) {
	g := a.w.graphs[at]
	add := func(key, value []byte, err error) {
		require.NoError(a.t, err)
		out = append(out, ingest.Record{Topic: string(bus.Transactions), Key: key, Value: value})
	}
	for i, n := range g.Nodes {
		add(ingest.EncodeTransaction(lethe.Transaction{ID: n.ID, Timestep: at, Features: g.Row(i)}))
	}
	for _, p := range g.Payments {
		add(ingest.EncodePayment(lethe.Payment{Source: g.Nodes[p.Source].ID, Target: g.Nodes[p.Target].ID, Timestep: at}))
	}
	return out
}

// arrive hands records over, as a batch.
func (a *arriving) arrive(records ...ingest.Record) {
	for i := range records {
		records[i].Offset = a.offset
		a.offset++
	}
	source := bus.TopicPartition{Topic: bus.Transactions}
	a.take(bus.Batch{Source: source, Records: records, Next: a.offset, End: a.offset}, 0)
}

// scoreWhatWaits makes passes until nobody waits, neither who arrived nor who is scored again.
func (a *arriving) scoreWhatWaits() {
	for {
		pass, err := a.scoreSome(a.t.Context(), true)
		require.NoError(a.t, err)
		if pass == nil {
			return
		}
	}
}

// said are all predictions, by transaction, in the order in which they were published.
func (a *arriving) said() map[lethe.TransactionID][]*scoring.Prediction {
	out := make(map[lethe.TransactionID][]*scoring.Prediction)
	for _, p := range predictions(a.t, a.topics) {
		out[p.Transaction] = append(out[p.Transaction], p)
	}
	return out
}

// Once all records of a timestep are there, in whatever order and batches they came, a
// model that looks at rows says of every transaction what it says of it in the closed
// graph, to the bit.
func TestTheLastProvisionalScoreIsThatOfTheClosedGraph(t *testing.T) {
	for _, model := range trainer.RowModels() {
		for _, mode := range []onehop.Mode{onehop.None, onehop.Undirected, onehop.Directed} {
			t.Run(model+"/"+mode.String(), func(t *testing.T) {
				for seed := range uint64(4) {
					a := newArriving(t, model, mode, nil)
					random := rand.New(rand.NewPCG(seed, 1))
					records := a.records(3)
					random.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
					for len(records) > 0 {
						n := 1 + random.IntN(len(records))
						a.arrive(records[:n]...)
						if records = records[n:]; random.IntN(2) == 0 {
							a.scoreWhatWaits()
						}
					}
					a.scoreWhatWaits()

					g, said := a.w.graphs[3], a.said()
					want, err := a.predictor.ask(t.Context(), a.by, g)
					require.NoError(t, err)
					require.Len(t, said, len(g.Nodes))
					for i, n := range g.Nodes {
						last := said[n.ID][len(said[n.ID])-1]
						require.Equal(t, want.illicit[i], last.Probability, "seed %d node %d", seed, i)
						require.False(t, last.Final)
						require.Equal(t, a.by.Version, last.EnsembleVersion)
						require.Equal(t, lethe.Timestep(3), last.Timestep)
					}
				}
			})
		}
	}
}

// A payment that joins has its ends scored again, under ids of their own. The same
// neighbourhood by the same ensemble has the same id, as after a restart.
func TestAPaymentIsScoredAgain(t *testing.T) {
	a := newArriving(t, trainer.Logistic, onehop.Directed, nil)
	records := a.records(3)
	a.arrive(records[:nodes]...)
	a.scoreWhatWaits()
	before := a.said()
	require.Len(t, before, nodes)
	a.arrive(records[nodes]) // from 0 to 1
	a.scoreWhatWaits()
	after := a.said()
	for i, n := range a.w.graphs[3].Nodes {
		if i > 1 {
			require.Len(t, after[n.ID], 1)
			continue
		}
		require.Len(t, after[n.ID], 2)
		first, second := after[n.ID][0], after[n.ID][1]
		require.Equal(t, before[n.ID][0], first)
		require.NotEqual(t, first.Probability, second.Probability)
		require.NotEqual(t, first.ID, second.ID)
	}
	b := newArriving(t, trainer.Logistic, onehop.Directed, nil)
	b.arrive(records[:nodes]...)
	b.scoreWhatWaits()
	require.Equal(t, before, b.said())
}

// What is suppressed, before it arrives or after, and what closes gets no score, also
// when the pass was begun before. Nobody is scored without an ensemble.
func TestNothingLeavesThatIsForbidden(t *testing.T) {
	told := 0
	a := newArriving(t, trainer.Logistic, onehop.Directed, events.Tee(
		events.On(func(e events.ProvisionallyScored) { told += e.Predictions }),
	))
	g, records := a.w.graphs[3], a.records(3)
	gone := func(i int) []lethe.Digest { return []lethe.Digest{secret.Suppression(g.Nodes[i].ID)} }
	a.suppress(gone(0), nil)
	a.arrive(records...)
	a.suppress(gone(1), nil)
	by, pass := a.next(true)
	require.NotNil(t, pass)
	require.Equal(t, a.by, by)
	require.Len(t, pass.Graph.Nodes, nodes-2)
	require.False(t, slices.ContainsFunc(pass.Graph.Nodes, func(n lethe.SnapshotNode) bool {
		return n.ID == g.Nodes[0].ID || n.ID == g.Nodes[1].ID
	}))
	require.NoError(t, a.close(t.Context(), g))
	require.Empty(t, a.window.Score(pass, make([]float64, len(pass.Scored))))
	a.arrive(records...)
	a.scoreWhatWaits()
	require.Empty(t, a.said())

	require.NoError(t, a.serve(nil))
	later := records[0]
	var err error
	later.Key, later.Value, err = ingest.EncodeTransaction(lethe.Transaction{ID: "later", Timestep: 4, Features: g.Row(0)})
	require.NoError(t, err)
	a.arrive(later)
	a.scoreWhatWaits()
	require.Empty(t, a.said())
	require.NoError(t, a.serve(a.by))
	a.scoreWhatWaits()
	require.Len(t, a.said(), 1)
	require.Equal(t, 1, told)
}

// The window takes records that the graphs refuse. Their predictions are withdrawn when
// their timestep closes without them, and those of no other transaction. A transaction
// that had its final score gets no other under another timestep.
func TestPredictionsOfWhatWasRefusedAreWithdrawn(t *testing.T) {
	a := newArriving(t, trainer.Logistic, onehop.Directed, nil)
	g := a.w.graphs[3]
	other := func(id lethe.TransactionID, at lethe.Timestep) ingest.Record {
		key, value, err := ingest.EncodeTransaction(lethe.Transaction{ID: id, Timestep: at, Features: g.Row(0)})
		require.NoError(t, err)
		return ingest.Record{Topic: string(bus.Transactions), Key: key, Value: value}
	}
	a.arrive(append(a.records(3), other("refused", 3), other("waits", 4))...)
	a.scoreWhatWaits()
	require.Len(t, a.said(), nodes+2)

	require.NoError(t, a.close(t.Context(), g))
	var withdrawn []string
	for _, rec := range roletest.Records(t, a.topics, bus.Predictions) {
		if rec.Tombstone() {
			withdrawn = append(withdrawn, string(rec.Key))
		}
	}
	require.Equal(t, []string{"refused"}, withdrawn)

	a.arrive(other(g.Nodes[0].ID, 4))
	_, pass := a.next(true)
	require.Nil(t, pass)
}

// So it is when the role is started again: what had final scores is in its store.
func TestARestartKnowsWhatHadFinalScores(t *testing.T) {
	topics, w := topics(), newScenario(t, 3)
	o := optionsFor(topics)
	o.Dir, o.MaxTimestepJump = t.TempDir(), 1000
	_, stop := running(t, o)
	publish(t, topics, w, 1, 2, 3)
	idle(t, topics)
	stop()

	o.Scoring.Provisional = true
	l, err := open(t.Context(), o)
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	g := w.graphs[2]
	for _, id := range []lethe.TransactionID{g.Nodes[0].ID, "new"} {
		l.arrivals.window.Transaction(lethe.Transaction{ID: id, Timestep: 4, Features: g.Row(0)}, time.Time{})
	}
	require.Equal(t, 1, l.arrivals.window.Len())
}
