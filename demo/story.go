package demo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"lethe"
	"lethe/dataset"
	"lethe/deletions"
	"lethe/deletions/receipt"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/requests"
	"lethe/scoring"
	"lethe/scoring/quality"
	"lethe/service"
)

// story is the part with the service up.
type story struct {
	Options
	s      *service.Service
	ended  chan error
	over   bool
	result *Result
}

const pollInterval = 50 * time.Millisecond

// tell replays the stream, measures the predictions and erases one transaction.
func (st *story) tell(ctx context.Context) error {
	replayed := make(chan error, 1)
	go func() {
		_, err := service.Replay(ctx, st.s.Client(), st.Stream, service.ReplayOptions{})
		replayed <- err
	}()
	// The ensemble that will score the next timestep is behind it by the lag.
	steps := st.Stream.Steps
	behind := min(st.Config.Scoring.LabelLagTimesteps, len(steps)-1)
	through := steps[len(steps)-1-behind].Timestep
	if _, err := st.await(ctx, func(s *service.Status) bool {
		st.Progress("stream: %d of %d timesteps trained on, %d predictions", s.Timesteps.Settled, len(steps), s.Predictions)
		return s.TrainedThrough == through && s.Timesteps.Settled == len(steps) && s.LagRecords == 0
	}); err != nil {
		return errors.Join(err, first(replayed))
	}
	if err := <-replayed; err != nil {
		return err
	}
	if err := st.measure(ctx); err != nil {
		return err
	}
	if err := st.erase(ctx); err != nil {
		return err
	}
	status, err := st.s.Status(ctx)
	if err != nil {
		return err
	}
	st.result.Predictions, st.result.EnsembleHash, st.result.Steps = status.Predictions, status.EnsembleHash, status.Steps
	return nil
}

// first returns what a channel holds, without waiting.
func first(c chan error) error {
	select {
	case err := <-c:
		return err
	default:
		return nil
	}
}

// await polls the service until it is as wanted or has ended.
func (st *story) await(ctx context.Context, want func(*service.Status) bool) (*service.Status, error) {
	for {
		s, err := st.s.Status(ctx)
		if err == nil && want(s) {
			return s, nil
		}
		select {
		case err := <-st.ended:
			st.over = true
			if err == nil {
				err = errors.New("the service ended early")
			}
			return nil, err
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pollInterval):
		}
	}
}

// measure compares the published predictions with the dataset's labels over the
// test timesteps. It reads the topic as any consumer would.
func (st *story) measure(ctx context.Context) error {
	labels := make(map[lethe.TransactionID]lethe.Label)
	for _, step := range st.Stream.Steps {
		for _, l := range step.Labels {
			labels[l.ID] = l.Label
		}
	}
	var tally quality.Tally
	err := st.s.Client().ReadAll(ctx, bus.Predictions, func(rec ingest.Record) error {
		if rec.Tombstone() || len(rec.Key) > 0 && rec.Key[0] == '!' {
			return nil
		}
		p, err := scoring.DecodePrediction(rec.Value)
		if err != nil {
			return fmt.Errorf("prediction at offset %d: %w", rec.Offset, err)
		}
		tally.Add(p.Timestep, p.Probability, labels[p.Transaction])
		return nil
	})
	if err != nil {
		return err
	}
	st.result.TestTimesteps = testTimesteps(st.Stream)
	st.result.Test = tally.Summarise(st.result.TestTimesteps[0], st.result.TestTimesteps[1], st.Config.Scoring.Threshold)
	return nil
}

// The Elliptic protocol tests on the timesteps from 35 on, of 49.
const (
	testFrom      = 35
	protocolSteps = 49
)

// testTimesteps are those of the Elliptic protocol, or the last 30 % of a
// shorter stream.
func testTimesteps(s *dataset.Stream) [2]lethe.Timestep {
	_, last := s.Range()
	if len(s.Steps) >= testFrom && last >= testFrom {
		return [2]lethe.Timestep{testFrom, last}
	}
	from := len(s.Steps) * (testFrom - 1) / protocolSteps
	return [2]lethe.Timestep{s.Steps[min(max(from, 1), len(s.Steps)-1)].Timestep, last}
}

const eraseTimeout = 5 * time.Minute

// erase has one transaction forgotten and checks the receipt.
func (st *story) erase(ctx context.Context) error {
	node, ok := subject(st.Stream)
	if !ok {
		return errors.New("the stream has no transaction to erase")
	}
	id, err := requests.NewID(rand.Reader)
	if err != nil {
		return err
	}
	before, err := st.s.Status(ctx)
	if err != nil {
		return err
	}
	started := time.Now()
	r := lethe.ErasureRequest{RequestID: id, Targets: lethe.Transactions(node), Scope: lethe.ScopeStubs}
	if err := requests.Submit(ctx, st.s.Client(), r, started); err != nil {
		return err
	}
	waitCtx, cancel := context.WithTimeout(ctx, eraseTimeout)
	defer cancel()
	status, err := requests.Wait(waitCtx, st.s.Client(), id,
		func(s deletions.Status) { st.Progress("erasure: %s", s.State) })
	if err != nil {
		return err
	}
	e := Erasure{
		RequestID: id, Nodes: []lethe.TransactionID{node}, State: status.State, Scope: r.Scope,
		SlicesReplaced: status.Counts.Slices, ShardsRetrained: status.Counts.Shards,
		Seconds: time.Since(started).Seconds(), Receipt: receiptPath(st.Config, id), EnsembleBefore: before.EnsembleHash,
	}
	if status.State == deletions.Verified {
		if err := checkReceipt(&e); err != nil {
			return err
		}
	}
	st.result.Erasures = append(st.result.Erasures, e)
	return nil
}

// checkReceipt checks the signed receipt as lethe receipt verify does.
func checkReceipt(e *Erasure) error {
	data, err := os.ReadFile(e.Receipt)
	if err != nil {
		return fmt.Errorf("the receipt: %w", err)
	}
	receipt, verification, err := receipt.Verify(data, nil)
	if err != nil {
		return fmt.Errorf("the receipt: %w", err)
	}
	e.ReceiptValid, e.EnsembleAfter = verification.Valid, receipt.EnsembleAfter.String()
	return nil
}

// subject picks the transaction to forget: labelled illicit, from about two
// thirds of the stream, with the most payments of its timestep; any labelled or,
// failing that, any transaction will do otherwise.
func subject(s *dataset.Stream) (lethe.TransactionID, bool) {
	if len(s.Steps) == 0 {
		return "", false
	}
	step := s.Steps[len(s.Steps)*2/3]
	payments := make(map[lethe.TransactionID]int)
	for _, p := range step.Payments {
		payments[p.Source]++
		payments[p.Target]++
	}
	label := make(map[lethe.TransactionID]lethe.Label)
	for _, l := range step.Labels {
		label[l.ID] = l.Label
	}
	if len(step.Transactions) == 0 {
		return "", false
	}
	best := slices.MaxFunc(step.Transactions, func(a, b lethe.Transaction) int {
		if label[a.ID] != label[b.ID] {
			return int(label[a.ID]) - int(label[b.ID])
		}
		return payments[a.ID] - payments[b.ID]
	})
	return best.ID, true
}
