package service

import (
	"context"
	"slices"
	"sync"
	"time"

	"lethe/ingest/bus"
	"lethe/pipeline/role"
)

// endsLimit bounds the query of brokers for the ends of topics.
const endsLimit = 5 * time.Second

// ends queries the ends of the source topics, with one query at a time for all callers: a caller
// that arrives during a query shares the next result.
type ends struct {
	ask func(context.Context) (map[bus.TopicPartition]int64, error)

	mu      sync.Mutex
	next    *answer
	running bool
}

// answer is set once done is closed.
type answer struct {
	done chan struct{}
	at   map[bus.TopicPartition]int64
	err  error
}

// get returns the ends at a time after the call, or the context's error.
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

// run queries until no caller waits.
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

// sourceEnds queries the brokers.
func (s *Service) sourceEnds(ctx context.Context) (map[bus.TopicPartition]int64, error) {
	return bus.EndsOf(ctx, s.client, bus.Transactions, bus.Labels, bus.Erasures)
}

// unknownLag means that the brokers do not report the lag.
const unknownLag = -1

// lag counts the records from the consumed position of the source topics to their ends; 0 if no
// role of the process consumes them, unknownLag with an error.
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
