package service_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/audit"
	"lethe/configs"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/partition/onehop"
	"lethe/scoring"
	"lethe/scoring/reasons"
	"lethe/service/servicetest"
	"lethe/trainer"
)

// Alerts have reasons that add up to what their components said. Once the other end of a
// payment that they name is erased, no topic and no file holds anything of it, and the
// alerts that named it have reasons by the ensemble that never saw it.
func TestReasonsAddUpAndForget(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 4, 80, 31)
	c := servicetest.SmallConfig(t, t.TempDir())
	c.Repair.OneHop, c.Repair.OneHopDirected = true, true
	c.Trainer.Model, c.Trainer.Hidden = configs.Stack, 16
	c.Trainer.Components = []string{"elliptic-gin:4", "trees:2:rounds=20:rows=1", "logistic:2"}
	c.Scoring.Aggregation, c.Scoring.Threshold, c.Scoring.LearnTimesteps = scoring.MethodStack, "budget:12", 2
	c.Scoring.Reasons = 20
	s, m := start(t, c), newMirror(t, c, stream)
	s.Replay(stream)
	m.settle(1, 2, 3)
	records := reasonsOf(s, 3*12)

	layout, err := c.Layout()
	require.NoError(t, err)
	var models []*trainer.Checkpoint
	trained := m.build().checkpoints
	for model := range lethe.ShardID(layout.Models()) {
		one, err := trainer.DecodeCheckpoint(trained[sliceAt{model, 3}])
		require.NoError(t, err)
		models = append(models, one)
	}
	graph := m.graph(4)
	said, err := m.runner.Ask(t.Context(), models, trainer.InputOf(onehop.Directed.Join(graph)))
	require.NoError(t, err)
	logits, scored, names := said.Logits(layout), 0, []string{"elliptic-gin", "trees", "logistic"}
	for i, n := range graph.Nodes {
		r, alert := records[n.ID]
		if !alert {
			continue
		}
		scored++
		require.NotNil(t, r.Intercept)
		require.NotEmpty(t, r.Components)
		for _, component := range r.Components {
			k := slices.Index(names, component.Model)
			bound := []float64{1e-3, 1e-6, 1e-6}[k]
			require.NotZero(t, *component.Weight)
			require.NotEmpty(t, component.Reasons)
			require.InDelta(t, component.Logit, component.Sum(), bound, component.Model)
			require.InDelta(t, logits[k][i], component.Logit, 1e-4, component.Model)
		}
	}
	require.Equal(t, 12, scored)

	gone, naming := mostNamed(records)
	forms := servicetest.FormsOf(t, c, stream, gone)
	require.Greater(t, countNaming(s, bus.Reasons, string(gone)), 0)
	require.Equal(t, deletions.Verified, s.Erase("named", lethe.ScopeStubs, gone))
	require.Zero(t, countNaming(s, bus.Reasons, string(gone)), "a record of it, one that names it, or a tombstone is left")
	require.Empty(t, servicetest.Left(t, c.DataDir, forms))
	status, err := s.Status(t.Context())
	require.NoError(t, err)
	remaining := len(records)
	if _, alert := records[gone]; alert {
		remaining--
	}
	after := reasonsOf(s, remaining)
	for _, id := range naming {
		r := after[id]
		require.True(t, r.Again)
		require.Equal(t, status.EnsembleHash, r.EnsembleVersion.String())
		for _, component := range r.Components {
			require.InDelta(t, component.Logit, component.Sum(), 1e-3)
		}
	}
	for id, r := range after {
		if !r.Again {
			require.Equal(t, records[id], r, "reasons that named nothing erased have changed")
		}
	}

	// What does not add up, and what is no record, is named.
	id := naming[0]
	after[id].Components[0].Remainder++
	spoilt, err := after[id].Encode()
	require.NoError(t, err)
	require.NoError(t, s.Client().Write(t.Context(), bus.Reasons, []ingest.Outgoing{
		{Key: []byte(id), Value: spoilt}, {Key: []byte("nobody"), Value: []byte("{}")},
	}))
	s.Stop()
	report, err := audit.Check(t.Context(), audit.Options{Config: c})
	require.NoError(t, err)
	text := strings.Join(report.Problems, "\n")
	require.Contains(t, text, "the reasons of component 0 do not add up to its logit")
	require.Contains(t, text, "not a valid record of reasons")
	require.Len(t, report.Problems, 2, text)
}

// reasons are the newest of every alert, once there are so many.
func reasonsOf(r *running, alerts int) map[lethe.TransactionID]*reasons.Record {
	r.T.Helper()
	made := func() bool { return len(r.Newest(bus.Reasons)) == alerts }
	require.Eventually(r.T, made, servicetest.WaitFor, 20*time.Millisecond)
	out := make(map[lethe.TransactionID]*reasons.Record)
	for key, value := range r.Newest(bus.Reasons) {
		record, err := reasons.Decode([]byte(value))
		require.NoError(r.T, err)
		out[lethe.TransactionID(key)] = record
	}
	return out
}

// mostNamed is the transaction that most records name as the other end of a payment, and
// which those are.
func mostNamed(records map[lethe.TransactionID]*reasons.Record) (most lethe.TransactionID, by []lethe.TransactionID) {
	named := make(map[lethe.TransactionID][]lethe.TransactionID)
	for id, r := range records {
		for _, reason := range r.Components[0].Reasons {
			if reason.Transaction != "" {
				named[reason.Transaction] = append(named[reason.Transaction], id)
			}
		}
	}
	for id, list := range named {
		if len(list) > len(by) || len(list) == len(by) && id < most {
			most, by = id, list
		}
	}
	return most, by
}
