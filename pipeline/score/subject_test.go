package score

import (
	"cmp"
	"log/slog"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
	"lethe/scoring"
	"lethe/scoring/ensemble"
	"lethe/trainer/kernels"
)

// topics are in memory.
func topics() *roletest.Bus {
	return roletest.NewBus(map[bus.Topic]int{bus.Models: 2, bus.Predictions: 2})
}

// optionsFor gives no provisional scores: nobody reads beside the loop.
func optionsFor(topics role.Bus) Options {
	plain := scoring.Defaults()
	plain.Provisional = false
	return Options{
		Layout: ensemble.PerShard(smallModel(), shards), Workers: 2, Scoring: plain,
		Limits: ingest.DefaultLimits(), Kernels: kernels.Default(), Secret: secret,
		Instance: "1", Surroundings: role.Around(topics, nil, slog.New(slog.DiscardHandler)),
	}
}

// subject is a role with its logic, over a store in memory.
type subject struct {
	*role.Follower
	logic *logic
}

// newSubject opens the role on a store, as after a kill if it was used before. It has no files.
func newSubject(t testing.TB, o Options, store role.Store) subject {
	t.Helper()
	o.Dir = t.TempDir()
	l, err := newLogic(o, store)
	require.NoError(t, err)
	f, err := follow(t.Context(), l)
	require.NoError(t, err)
	return subject{f, l}
}

// arrive hands messages over, as one batch.
func (s subject) arrive(t testing.TB, messages ...wire.Message) error {
	t.Helper()
	in := role.Input{Batch: bus.Batch{Source: bus.TopicPartition{Topic: wire.TopicOf(messages[0].Key.Kind)}}}
	for _, m := range messages {
		in.Messages = append(in.Messages, wire.Received{Message: m})
	}
	return s.Feed(t.Context(), in)
}

// commanded hands a command over, as it is read.
func (s subject) commanded(t testing.TB, c *wire.Command) error {
	t.Helper()
	records, err := c.Records()
	require.NoError(t, err)
	n, err := wire.ParseNotice(ingest.Record{Key: records[0].Key, Value: records[0].Value})
	require.NoError(t, err)
	return s.Feed(t.Context(), role.Input{Notices: []wire.Notice{n}})
}

// predictions reads what was published, record by record in partition order.
func predictions(t testing.TB, topics roletest.Reader) (out []*scoring.Prediction) {
	t.Helper()
	for _, rec := range roletest.Records(t, topics, bus.Predictions) {
		p, err := scoring.DecodePrediction(rec.Value)
		require.NoError(t, err)
		out = append(out, p)
	}
	return out
}

// acks counts the acknowledgements by step.
func acks(t testing.TB, topics roletest.Reader) map[string]int {
	t.Helper()
	out := make(map[string]int)
	for _, n := range roletest.Notices(t, topics) {
		if n.Ack != nil {
			out[string(n.Ack.Step)]++
		}
	}
	return out
}

func sorted[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// A request that was taken back and done with may be taken back once more by whoever leads the graphs then, and the
// deletion of its command before may be compacted away: what counts is the newest command.
func TestACommandThatTakesBackIsAnsweredEachTime(t *testing.T) {
	w, topics := newScenario(t, 3), topics()
	one := newSubject(t, optionsFor(topics), roletest.NewStore())
	gone := []lethe.TransactionID{w.graphs[2].Nodes[1].ID}
	for times, phase := range []wire.Phase{
		wire.PhaseSuppress, wire.PhaseLift, wire.PhaseLift, wire.PhaseSuppress, wire.PhaseSuppress,
	} {
		notices := []wire.Notice{{Command: w.command(phase, gone, 3)}}
		require.NoError(t, one.Feed(t.Context(), role.Input{Notices: notices}))
		want := []map[string]int{
			{"suppressed": 1}, {"suppressed": 1, "lifted": 1}, {"suppressed": 1, "lifted": 2},
			{"suppressed": 2, "lifted": 2}, {"suppressed": 2, "lifted": 2},
		}[times]
		require.Equal(t, want, acks(t, topics), "command %d", times)
	}
}
