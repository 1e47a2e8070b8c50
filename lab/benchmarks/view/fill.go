package main

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/wire"
	"lethe/scoring"
	"lethe/scoring/reasons"
)

// filler publishes what the view is made of.
type filler struct {
	*benchmark
	client *bus.Client
	secret lethe.Secret
}

const (
	shards   = 20
	features = 4
	groups   = 24 // models of the ensemble
)

// fill publishes everything.
func (f *filler) fill(ctx context.Context) error {
	for _, part := range []struct {
		what string
		do   func(context.Context) error
	}{
		{"timesteps", f.timesteps}, {"dead letters", f.letters}, {"erasures", f.erasures}, {"log", f.log},
	} {
		if err := part.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", part.what, err)
		}
	}
	return nil
}

func idOf(t lethe.Timestep, i int) lethe.TransactionID {
	return lethe.TransactionID(fmt.Sprintf("%d%07d", 230+t, i))
}

func (f *filler) perStep() int { return f.Predictions / f.Steps }

// probability is that of a transaction: most are near 0.
func probability(t lethe.Timestep, i int) float64 {
	x := rand.New(rand.NewPCG(uint64(t), uint64(i))).Float64()
	return x * x * x
}

func (f *filler) timesteps(ctx context.Context) error {
	for t := lethe.Timestep(1); t <= lethe.Timestep(f.Steps); t++ {
		if err := f.graph(ctx, t); err != nil {
			return err
		}
		var predictions, why []ingest.Outgoing
		for i := range f.perStep() {
			p := &scoring.Prediction{
				Transaction: idOf(t, i), Timestep: t, Probability: probability(t, i), Threshold: .9, Final: true,
				EnsembleVersion: lethe.Digest{byte(t), byte(t >> 8), 1}, TrainedThrough: t - 1, Aggregation: scoring.MethodMean,
			}
			p.Class = scoring.Classify(p.Probability, p.Threshold)
			p.ID = scoring.PredictionID(f.secret, p, lethe.Digest{4})
			value, err := scoring.EncodePrediction(p)
			if err != nil {
				return err
			}
			predictions = append(predictions, ingest.Outgoing{Key: ingest.TransactionKey(p.Transaction), Value: value})
			if p.Probability < p.Threshold {
				continue
			}
			if value, err = reasonsOf(p, idOf(t, (i+1)%f.perStep())).Encode(); err != nil {
				return err
			}
			why = append(why, ingest.Outgoing{Key: ingest.TransactionKey(p.Transaction), Value: value})
		}
		if err := f.client.Write(ctx, bus.Predictions, predictions); err != nil {
			return err
		}
		if err := f.client.Write(ctx, bus.Reasons, why); err != nil {
			return err
		}
	}
	return nil
}

func reasonsOf(p *scoring.Prediction, other lethe.TransactionID) *reasons.Record {
	r := &reasons.Record{
		Transaction: p.Transaction, Timestep: p.Timestep, EnsembleVersion: p.EnsembleVersion,
		TrainedThrough: p.TrainedThrough,
	}
	for _, model := range []string{"gin", "trees", "logistic"} {
		c := reasons.Component{Model: model, Groups: 2}
		for range 5 {
			c.Reasons = append(c.Reasons, reasons.Reason{
				Code: reasons.Payment, Transaction: other, Direction: "in", Contribution: .5,
			})
		}
		r.Components = append(r.Components, c)
	}
	return r
}

func (f *filler) letters(ctx context.Context) error {
	reasons := ingest.Reasons()
	for part := range slices.Chunk(numbers(f.Letters), atOnce) {
		var out []ingest.Outgoing
		for _, i := range part {
			rec := ingest.Record{
				Topic: string(bus.Transactions), Partition: i % 8, Offset: int64(i), Time: time.Unix(int64(i), 0),
				Key: fmt.Appendf(nil, "refused-%d", i), Value: fmt.Appendf(nil, `{"id":"refused-%d","timestep":"many"}`, i),
			}
			refusal := &ingest.Refusal{Reason: reasons[i%len(reasons)], Detail: "timestep is no whole number"}
			out = append(out, ingest.DeadLetter(rec, refusal, "benchmark"))
		}
		if err := f.client.Write(ctx, bus.DeadLetters, out); err != nil {
			return err
		}
	}
	return nil
}

// atOnce is how many records are written in one call.
const atOnce = 20_000

func numbers(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func requestOf(i int) string { return fmt.Sprintf("gdpr-%06d", i) }

func signingKey() ed25519.PrivateKey {
	seed := sha256.Sum256([]byte("benchmark"))
	return ed25519.NewKeyFromSeed(seed[:])
}

func (f *filler) erasures(ctx context.Context) error {
	for part := range slices.Chunk(numbers(f.Erasures), atOnce) {
		var statuses, receipts []ingest.Outgoing
		for _, i := range part {
			e, err := deletions.NewEntry(f.secret, lethe.ErasureRequest{
				RequestID: requestOf(i), Targets: lethe.Transactions("erased-1", "erased-2", "erased-3"), Nonce: "n",
			}, time.Unix(int64(i), 0))
			if err != nil {
				return err
			}
			record, err := wire.StatusRecord(e.Status(), signingKey())
			if err != nil {
				return err
			}
			receipt, err := json.Marshal(map[string]string{"payload": strings.Repeat("A", 20_000)})
			if err != nil {
				return err
			}
			statuses = append(statuses, record)
			receipts = append(receipts, ingest.Outgoing{Key: []byte(requestOf(i)), Value: receipt})
		}
		if err := f.client.Write(ctx, bus.ErasureStatus, statuses); err != nil {
			return err
		}
		if err := f.client.Write(ctx, bus.Receipts, receipts); err != nil {
			return err
		}
	}
	return nil
}

// await waits until the view has everything.
func (f *filler) await(ctx context.Context, a *asker) error {
	last := fmt.Sprintf("/api/v1/erasures/%s/receipt", requestOf(f.Erasures-1))
	for {
		var log struct {
			Size int `json:"size"`
		}
		var step struct {
			Final   int  `json:"final"`
			Settled bool `json:"settled"`
		}
		var quality struct {
			Labelled int `json:"labelled"`
		}
		var letters struct {
			NextCursor *string `json:"next_cursor"`
		}
		_, status := a.get(ctx, last, nil)
		a.get(ctx, "/api/v1/log", &log)
		a.get(ctx, fmt.Sprintf("/api/v1/timesteps/%d", f.Steps), &step)
		a.get(ctx, "/api/v1/quality", &quality)
		a.get(ctx, "/api/v1/dead-letters?limit=500", &letters)
		done := status == 200 && log.Size >= f.Leaves && step.Final == f.perStep() && step.Settled &&
			quality.Labelled >= f.perStep()*f.Steps/5 && (letters.NextCursor != nil || f.Letters <= 500)
		if done {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}
