package service

import (
	"context"
	"slices"
	"sync"
	"time"

	"lethe/ingest/bus"
	"lethe/pipeline/role"
)

// endsLimit is how long brokers are asked for the ends of topics.
const endsLimit = 5 * time.Second

// ends asks for the ends of the source topics, once at a time however many wait for
// them: who comes while brokers are asked shares the next answer.
type ends struct {
	ask func(context.Context) (map[bus.TopicPartition]int64, error)

	mu      sync.Mutex
	next    *answer
	running bool
}

// answer is there once done is closed.
type answer struct {
	done chan struct{}
	at   map[bus.TopicPartition]int64
	err  error
}

// get returns the ends as they were after it was called, or the context's error.
func (e *ends) get(ctx context.Context) (map[bus.TopicPartition]int64, error) {
	e.mu.Lock()
	if e.next == nil {
		e.next = &answer{done: make(chan struct{})}
	}
	waited := e.next
	if !e.running {
		e.running = true
		go e.run()
	}
	e.mu.Unlock()
	select {
	case <-waited.done:
		return waited.at, waited.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// run asks until nobody waits.
func (e *ends) run() {
	for {
		e.mu.Lock()
		now := e.next
		e.next, e.running = nil, now != nil
		e.mu.Unlock()
		if now == nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), endsLimit)
		now.at, now.err = e.ask(ctx)
		cancel()
		close(now.done)
	}
}

// sourceEnds asks the brokers.
func (s *Service) sourceEnds(ctx context.Context) (map[bus.TopicPartition]int64, error) {
	return bus.EndsOf(ctx, s.client, bus.Transactions, bus.Labels, bus.Erasures)
}

// unknownLag stands for a lag that the brokers do not tell.
const unknownLag = -1

// lag counts the records from where the source topics have been consumed to
// their ends; none if no role of the process consumes them, unknownLag with an error.
func (s *Service) lag(ctx context.Context, known *role.Status) (total int64, err error) {
	if known.Consumed == nil {
		return 0, nil
	}
	at, err := s.ends.get(ctx)
	if err != nil {
		return unknownLag, err
	}
	for source, end := range at {
		if !slices.Contains(known.LeftToLeader, source.Topic) {
			total += max(0, end-known.Consumed[source])
		}
	}
	return total, nil
}
