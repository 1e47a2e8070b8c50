package main

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"lethe"
	"lethe/ingest/bus"
	"lethe/scoring"
)

// received is what was read of predictions.v1.
type received struct {
	mu sync.Mutex
	// first is when the first provisional prediction of a transaction was read, finals
	// when the final one was, by transaction.
	first, finals map[lethe.TransactionID]time.Time
	provisional   int
}

func newReceived() *received {
	return &received{
		first: make(map[lethe.TransactionID]time.Time), finals: make(map[lethe.TransactionID]time.Time),
	}
}

// follow reads from the topic's end on until the context ends.
func (r *received) follow(ctx context.Context, client *bus.Client) error {
	ends, err := client.EndOffsets(ctx, bus.Predictions)
	if err != nil {
		return err
	}
	from := make(map[bus.TopicPartition]int64)
	for p, end := range ends {
		from[bus.TopicPartition{Topic: bus.Predictions, Partition: p}] = end
	}
	tail, err := client.Tail(from)
	if err != nil {
		return err
	}
	defer tail.Close()
	for {
		batch, err := tail.Next(ctx)
		if err != nil {
			if ctx.Err() != nil {
				err = nil
			}
			return err
		}
		if err := r.take(batch, time.Now()); err != nil {
			return err
		}
	}
}

func (r *received) take(batch bus.Batch, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, rec := range batch.Records {
		if rec.Tombstone() {
			continue
		}
		p, err := scoring.DecodePrediction(rec.Value)
		if err != nil {
			return err
		}
		into := r.finals
		if !p.Final {
			r.provisional++
			into = r.first
		}
		if _, known := into[p.Transaction]; !known {
			into[p.Transaction] = now
		}
	}
	return nil
}

// count is how many provisional predictions were read.
func (r *received) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.provisional
}

// delays are the milliseconds from when transactions were sent to their first
// provisional predictions, ascending.
func (r *received) delays(sent map[lethe.TransactionID]time.Time) []float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]float64, 0, len(sent))
	for id, at := range sent {
		out = append(out, milliseconds(r.first[id].Sub(at)))
	}
	slices.Sort(out)
	return out
}

// await waits until all transactions have a prediction of a kind, or the time is over.
func (r *received) await(ctx context.Context, of map[lethe.TransactionID]time.Time, step []lethe.Transaction) error {
	const patience, look = 2 * time.Minute, 5 * time.Millisecond
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if r.all(of, step) {
			return nil
		}
		select {
		case <-time.After(look):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return errors.New("predictions do not come")
}

func (r *received) all(of map[lethe.TransactionID]time.Time, step []lethe.Transaction) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range step {
		if _, there := of[t.ID]; !there {
			return false
		}
	}
	return true
}

// last returns the time of the last of the transactions.
func (r *received) last(of map[lethe.TransactionID]time.Time, step []lethe.Transaction) (last time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range step {
		if at := of[t.ID]; at.After(last) {
			last = at
		}
	}
	return last
}
