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
	"lethe/configs"
	"lethe/dataset"
	"lethe/deletions"
	"lethe/deletions/receipt"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/cputime"
	"lethe/pipeline/requests"
	"lethe/scoring"
	"lethe/scoring/quality"
	"lethe/service"
	"lethe/service/waiting"
)

// scenario is the part of the demo that runs while the service is up.
type scenario struct {
	Options
	service *service.Service
	ended   chan error
	over    bool
	result  *Result
	costs   *costMeter
}

const pollInterval = 50 * time.Millisecond

// play replays the stream, measures the predictions and erases one transaction.
func (s *scenario) play(ctx context.Context) error {
	started, used := time.Now(), cputime.Used()
	replayed := make(chan error, 1)
	go func() {
		_, err := service.Replay(ctx, s.service.Client(), s.Stream, service.ReplayOptions{
			Progress: func(sent service.ReplayProgress) { releaseFeatures(s.Stream.Steps[sent.Done-1]) },
		})
		replayed <- err
	}()
	// The ensemble that will score the next timestep lags behind it.
	steps := s.Stream.Steps
	behind := min(s.Config.Scoring.LabelLagTimesteps, len(steps)-1)
	through := steps[len(steps)-1-behind].Timestep
	var learning, explaining pace
	alerts := 0
	if _, err := s.await(ctx, func(now *service.Status) bool {
		trained := now.TrainedThrough == through && now.Timesteps.Settled == len(steps) && now.LagRecords == 0
		switch {
		case !trained:
			done, text := streamed(now, steps)
			s.Progress("%s%s", text, learning.text(done, len(steps)-behind, time.Now()))
		case now.ReasonsPending > 0:
			alerts = max(alerts, now.ReasonsPending)
			s.Progress("reasons: of %d alerts to come%s", now.ReasonsPending,
				explaining.text(alerts-now.ReasonsPending, alerts, time.Now()))
		}
		return trained && now.ReasonsPending == 0
	}); err != nil {
		return errors.Join(err, first(replayed))
	}
	if err := <-replayed; err != nil {
		return err
	}
	s.result.ReplaySeconds, s.result.ReplayCPUSeconds = time.Since(started).Seconds(), (cputime.Used() - used).Seconds()
	if err := s.measure(ctx); err != nil {
		return err
	}
	if err := s.erase(ctx); err != nil {
		return err
	}
	status, err := s.service.Status(ctx)
	if err != nil {
		return err
	}
	s.result.Predictions, s.result.EnsembleHash, s.result.Steps = status.Predictions, status.EnsembleHash, status.Steps
	return nil
}

// releaseFeatures frees most of the memory of a timestep that was sent.
func releaseFeatures(sent dataset.Step) {
	for i := range sent.Transactions {
		sent.Transactions[i].Features = nil
	}
}

// first receives from a channel without waiting.
func first(c chan error) error {
	select {
	case err := <-c:
		return err
	default:
		return nil
	}
}

// await polls the service until the condition holds or the service has ended.
func (s *scenario) await(ctx context.Context, want func(*service.Status) bool) (*service.Status, error) {
	for {
		now, err := s.service.Status(ctx)
		if err == nil && want(now) {
			return now, nil
		}
		if err := stuck(now); err != nil {
			return nil, err
		}
		select {
		case err := <-s.ended:
			s.over = true
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

// stuck returns an error if the stream cannot continue, because most of its records are rejected.
func stuck(now *service.Status) error {
	for _, w := range now.Waiting {
		switch w.Cause {
		case waiting.RecordsRejected, waiting.WrongPartition, waiting.TimestepGap, waiting.TooManyOpen,
			waiting.TooManyWaiting:
			return fmt.Errorf("the demo cannot continue: %s %s", w.Message, w.Do)
		default:
		}
	}
	return nil
}

// measure compares the published predictions with the dataset's labels over the test timesteps. It
// reads the topic as any consumer would.
func (s *scenario) measure(ctx context.Context) error {
	labels := make(map[lethe.TransactionID]lethe.Label)
	for _, step := range s.Stream.Steps {
		for _, l := range step.Labels {
			labels[l.ID] = l.Label
		}
	}
	s.result.TestTimesteps = testTimesteps(s.Stream)
	first, last := s.result.TestTimesteps[0], s.result.TestTimesteps[1]
	var probabilities []float64
	var called []bool
	var truth []lethe.Label
	err := s.service.Client().ReadAll(ctx, bus.Predictions, func(rec ingest.Record) error {
		if rec.Tombstone() || len(rec.Key) > 0 && rec.Key[0] == '!' {
			return nil
		}
		p, err := scoring.DecodePrediction(rec.Value)
		if err != nil {
			return fmt.Errorf("prediction at offset %d: %w", rec.Offset, err)
		}
		if !p.Final || p.Timestep < first || p.Timestep > last {
			return nil // its timestep is open, or was trained on
		}
		probabilities, truth = append(probabilities, p.Probability), append(truth, labels[p.Transaction])
		called = append(called, p.Class == lethe.Illicit.String())
		return nil
	})
	if err != nil {
		return err
	}
	s.result.Test = quality.SummariseServed(probabilities, called, truth)
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

// erase erases one transaction and checks the receipt.
func (s *scenario) erase(ctx context.Context) error {
	node, ok := subject(s.Stream)
	if !ok {
		return errors.New("the stream has no transaction to erase")
	}
	id, err := requests.NewID(rand.Reader)
	if err != nil {
		return err
	}
	before, err := s.service.Status(ctx)
	if err != nil {
		return err
	}
	started := s.costs.begin()
	r := lethe.ErasureRequest{RequestID: id, Targets: lethe.Transactions(node), Scope: lethe.ScopeStubs}
	submitted, err := requests.Submit(ctx, s.service.Client(), r, started)
	if err != nil {
		return err
	}
	waitCtx, cancel := context.WithTimeout(ctx, eraseTimeout)
	defer cancel()
	status, err := requests.Wait(waitCtx, s.service.Client(), submitted,
		func(now deletions.Status) { s.Reached("erasure: %s", now.State) })
	if err != nil {
		return err
	}
	e := Erasure{
		RequestID: id, Nodes: []lethe.TransactionID{node}, State: status.State, Scope: r.Scope,
		SlicesReplaced: status.Counts.Slices, ShardsRetrained: status.Counts.Shards, GroupsRefitted: status.Refitted,
		Seconds: time.Since(started).Seconds(), Costs: s.costs.costs(), Receipt: receiptPath(s.Config, id),
		EnsembleBefore: before.EnsembleHash,
	}
	if status.State == deletions.Verified {
		if err := checkReceipt(&e, configs.PublicKeyPath(s.Config.SigningKeyPath())); err != nil {
			return err
		}
	}
	s.result.Erasures = append(s.result.Erasures, e)
	return nil
}

// checkReceipt checks the signed receipt as lethe receipt verify does.
func checkReceipt(e *Erasure, publicKey string) error {
	data, err := os.ReadFile(e.Receipt)
	if err != nil {
		return fmt.Errorf("the receipt: %w", err)
	}
	pinned, err := configs.ReadPublicKey(publicKey)
	if err != nil {
		return fmt.Errorf("the receipt: %w", err)
	}
	receipt, verification, err := receipt.Verify(data, receipt.Pinned(pinned))
	if err != nil {
		return fmt.Errorf("the receipt: %w", err)
	}
	e.ReceiptValid, e.EnsembleAfter = verification.Valid, receipt.EnsembleAfter.String()
	e.Searched = Searched{Files: receipt.Scan.Files, Bytes: receipt.Scan.Bytes, Records: receipt.Scan.Records}
	for _, place := range receipt.Searched {
		if slices.Contains(bus.Topics(), bus.Topic(place.Place)) {
			e.Searched.Topics++
		}
	}
	return nil
}

// subject picks the transaction to erase: labelled illicit, from about two thirds of the stream,
// with the most payments of its timestep; otherwise any labelled one or, failing that, any
// transaction.
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
