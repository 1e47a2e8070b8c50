package service_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/configs"
	"lethe/dataset"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/residue"
	"lethe/metrics/events"
	"lethe/service"
	"lethe/service/servicetest"
)

// clean waits until no form is found any more: what was withdrawn from a
// topic is there until the log has been compacted. On a busy machine that may be
// late: the broker rests fifty times as long as it compacted.
func requireClean(r *running, dir string, forms []residue.Form) {
	r.T.Helper()
	var found []residue.Hit
	for deadline := time.Now().Add(3 * servicetest.WaitFor); time.Now().Before(deadline); {
		began := time.Now()
		if found = servicetest.Left(r.T, dir, forms); len(found) == 0 {
			return
		}
		time.Sleep(max(servicetest.Tick, 4*time.Since(began))) // the service needs the processor more
	}
	require.Empty(r.T, found)
}

// recordsOf counts the records of a stream that name a transaction.
func recordsOf(s *dataset.Stream, id lethe.TransactionID) int {
	n := 0
	for _, step := range s.Steps {
		for _, tx := range step.Transactions {
			if tx.ID == id {
				n++
			}
		}
		for _, p := range step.Payments {
			if p.Source == id || p.Target == id {
				n++
			}
		}
		for _, l := range step.Labels {
			if l.ID == id {
				n++
			}
		}
	}
	return n
}

// I9: an erased transaction does not come back, whatever is sent again.
func TestErasedNeverReturns(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 5, 60, 8)
	c := servicetest.SmallConfig(t, t.TempDir())
	s := start(t, c)
	part := servicetest.Part(t, stream, 1, 4)
	s.Replay(part)
	id := servicetest.LabelledIllicit(stream, 3)[0]
	records := recordsOf(stream, id)
	require.Greater(t, records, 2, "the transaction should have a payment and a label")
	forms := servicetest.FormsOf(t, c, stream, id)
	require.Equal(t, deletions.Verified, s.Erase("never-returns", lethe.ScopeStubs, id))
	require.Empty(t, servicetest.Left(t, c.DataDir, forms))
	before := s.Quiet()
	models, predictions := artefacts(s, bus.Models), s.Newest(bus.Predictions)
	suppressed := s.Consumed(events.Suppressed)

	s.ReplayAgain(part)
	require.Equal(t, records, s.Consumed(events.Suppressed)-suppressed)
	unchanged := func() {
		t.Helper()
		after := s.Quiet()
		require.Equal(t, before.Steps, after.Steps)
		require.Equal(t, before.EnsembleHash, after.EnsembleHash)
		require.Equal(t, before.Predictions, after.Predictions)
		require.Equal(t, models, artefacts(s, bus.Models))
		require.Equal(t, predictions, s.Newest(bus.Predictions))
		requireNothingOf(s, c, id, forms)
	}
	unchanged()

	s.Stop()
	require.Empty(t, servicetest.Left(t, c.DataDir, forms))
	s = start(t, c)
	s.ReplayAgain(part)
	late := lateRecords(stream, id)
	for _, record := range late {
		send(s, record.topic)(record.key, record.value, record.err)
	}
	// Otherwise the request may withdraw some of them before they are read.
	s.Quiet()
	require.Equal(t, deletions.Verified, s.Erase("again", lethe.ScopeStubs, id))
	require.Equal(t, []deletions.Outcome{deletions.OutcomeAlreadyErased}, outcomes(s, "again"))
	s.Quiet()
	// Of records with one key the log's cleaner may have removed the older ones before
	// they were read.
	keys := make(map[string]bool)
	for _, record := range late {
		keys[string(record.topic)+"/"+string(record.key)] = true
	}
	dropped := s.Consumed(events.Suppressed) - records
	require.GreaterOrEqual(t, dropped, len(keys))
	require.LessOrEqual(t, dropped, len(late))
	unchanged()

	// The stream goes on, without it, as if it had never been there after t 4.
	rest := servicetest.Part(t, stream, 5, 5)
	s.Replay(rest)
	m := newMirror(t, c, stream)
	m.settle(1, 2, 3, 4)
	m.forget(lethe.ScopeStubs, id)
	m.settle(5)
	requireEqual(s, m.build())
	s.Stop()
	stored(t, c, m.build())
	require.Empty(t, servicetest.Left(t, c.DataDir, forms))
}

// holdsNothingOf: the erased record is in no file and in no topic, dead letters
// included.
func requireNothingOf(r *running, c configs.Config, id lethe.TransactionID, forms []residue.Form) {
	r.T.Helper()
	require.Empty(r.T, r.Newest(bus.DeadLetters))
	requireClean(r, c.DataDir, forms)
	for _, topic := range bus.Topics() {
		require.Zero(r.T, countNaming(r, topic, string(id)), "records of %s", topic)
	}
}

// sending is one record on its way.
type sending struct {
	topic      bus.Topic
	key, value []byte
	err        error
}

// lateRecords are records that would bring a transaction back, or its id into
// the dead letters.
func lateRecords(s *dataset.Stream, id lethe.TransactionID) []sending {
	other := s.Steps[3].Transactions[0].ID
	var out []sending
	add := func(topic bus.Topic) func(key, value []byte, err error) {
		return func(key, value []byte, err error) { out = append(out, sending{topic, key, value, err}) }
	}
	features := s.Steps[0].Transactions[0].Features
	transactions, labels := add(bus.Transactions), add(bus.Labels)
	transactions(ingest.EncodeTransaction(lethe.Transaction{ID: id, Timestep: 5, Features: features}))
	transactions(ingest.EncodeTransaction(lethe.Transaction{ID: id, Timestep: 1 << 40, Features: features}))
	transactions(ingest.EncodeTransaction(lethe.Transaction{ID: id, Timestep: 5, Features: features[:2]}))
	transactions(ingest.EncodePayment(lethe.Payment{Source: id, Target: other, Timestep: 5}))
	transactions(ingest.EncodePayment(lethe.Payment{Source: other, Target: id, Timestep: 4}))
	transactions([]byte(id), []byte(`{"type":"transaction"`), nil)
	transactions([]byte("somebody"),
		[]byte(`{"type":"transaction","id":"`+string(id)+`","timestep":5,"features":[1]}`), nil)
	transactions([]byte(id+">"+id),
		[]byte(`{"type":"payment","source":"`+string(id)+`","target":"`+string(id)+`","timestep":5}`), nil)
	labels(ingest.EncodeLabel(lethe.LabelRecord{ID: id, Timestep: 3, Label: lethe.Licit}))
	labels(ingest.EncodeLabel(lethe.LabelRecord{ID: id, Timestep: 5, Label: lethe.Illicit}))
	labels([]byte(id), []byte(strings.Repeat("x", 40)), nil)
	return out
}

// Records that come in while their transaction is being erased do not get past
// the erasure, wherever it stands.
func TestReplayDuringAnErasure(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 4, 60, 13)
	c := servicetest.SmallConfig(t, t.TempDir())
	s := start(t, c)
	s.Replay(stream)
	m := newMirror(t, c, stream)
	m.settle(1, 2, 3, 4)
	id := servicetest.LabelledIllicit(stream, 2)[0]
	stop, stopped := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			o := service.ReplayOptions{RatePerSecond: 2000}
			if _, err := service.Replay(context.Background(), s.Client(), stream, o); err != nil {
				stopped <- err
				return
			}
			select {
			case <-stop:
				stopped <- nil
				return
			default:
			}
		}
	}()
	submit(s, request(t, "meanwhile", id))
	// With records arriving all the time, it may be verified between two looks, or only after them.
	s.Await(func(st *service.Status) bool {
		return st.Erasures[deletions.Erased]+st.Erasures[deletions.Failed]+st.Erasures[deletions.Verified] == 1
	})
	close(stop)
	require.NoError(t, <-stopped)
	require.Equal(t, deletions.Verified, s.Outcome("meanwhile"))
	s.Quiet()
	require.Positive(t, s.Consumed(events.Suppressed))
	m.forget(lethe.ScopeStubs, id)
	requireEqual(s, m.build())
	require.Empty(t, s.Newest(bus.DeadLetters))
	requireClean(s, c.DataDir, servicetest.FormsOf(t, c, stream, id))
	s.Stop()
	stored(t, c, m.build())
}
