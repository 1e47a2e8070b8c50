package graphs

import (
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/role/roletest"
)

// scenario prepares a simulation and returns its events, in order.
type scenario func(s *simulation) []func()

func newSimulation(t *testing.T) *simulation {
	return &simulation{
		deployment: deploy(t), disk: vfs.NewMem(), ledger: roletest.NewStore(), receipts: make(map[string][]byte),
		now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), sent: make(map[string]bool),
	}
}

// simulate runs a scenario until its erasure is verified. The process is killed at one
// step and begins again.
func simulate(t *testing.T, run scenario, killAt int, delivered bool) *simulation {
	s := newSimulation(t)
	s.killAt, s.delivered = killAt, delivered
	events := run(s)
	s.start()
	for range 80 {
		if err := s.turn(); err != nil {
			require.ErrorIs(t, err, errKilled)
			require.NoError(t, s.logic.Close())
			require.NoError(t, s.tail.Close())
			s.start()
			continue
		}
		if len(events) > 0 {
			events[0]()
			events = events[1:]
		}
		if s.logic.Status().Erasures[deletions.Verified] == 1 {
			require.NoError(t, s.logic.Close())
			return s
		}
	}
	t.Fatalf("killed at %d, delivered=%v: the erasure ends in %v", killAt, delivered, s.logic.Status().Erasures)
	return nil
}

// erasing asks for an erasure and answers as the other roles would.
func (s *simulation) erasing(ids ...lethe.TransactionID) []func() { return s.erasingAt("", ids...) }

// erasingAt is erasing at a scope, or that of the deployment.
func (s *simulation) erasingAt(scope lethe.Scope, ids ...lethe.TransactionID) []func() {
	key, value, err := ingest.EncodeErasure(lethe.ErasureRequest{
		RequestID: "gdpr-1", Targets: lethe.Transactions(ids...), Scope: scope,
	}, time.Time{})
	require.NoError(s, err)
	return []func(){
		func() { s.send(bus.Erasures, ingest.Outgoing{Key: key, Value: value}) },
		func() { s.answer("score", deletions.StepSuppressed) },
		func() { s.answer("train", deletions.StepPurged) },
		func() { s.answer("score", deletions.StepSwapped) },
		func() { s.answer("train", deletions.StepErased) },
		func() { s.answer("score", deletions.StepErased) },
		func() { s.answer("train", deletions.StepScanned) },
		func() { s.answer("score", deletions.StepScanned) },
	}
}

// inOrder has two timesteps, a refused record and an erasure.
func inOrder(s *simulation) []func() {
	s.send(bus.Transactions, ingest.Outgoing{Key: []byte("broken"), Value: []byte(`[1]`)})
	s.fill(1)
	s.settle(1)
	s.fill(2)
	return s.erasing(transactionID(1, 0), transactionID(2, 1))
}

// I7: killed at any step, before its messages are delivered or before that is noted,
// the role begins again, comes to the same end and has said the same.
func TestKilledAtAnyStepItComesToTheSameEnd(t *testing.T) {
	t.Parallel()
	every := 1
	if testing.Short() {
		every = 7
	}
	for name, run := range map[string]scenario{"in order": inOrder, "late": outOfOrder, "afresh": partitionedAfresh} {
		undisturbed := simulate(t, run, 0, false)
		require.Greater(t, undisturbed.steps, 20)
		for at := 1; at <= undisturbed.steps; at += every {
			for _, delivered := range []bool{false, true} {
				s := simulate(t, run, at, delivered)
				require.Equal(t, undisturbed.sent, s.sent, "%s, killed at %d, delivered=%v", name, at, delivered)
				require.Len(t, s.receipts, 1)
			}
		}
	}
}
