package service

import (
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"lethe/ingest/bus"
	"lethe/pipeline/role"
)

// endsLimit bounds the query of brokers for the ends of topics.
const endsLimit = 5 * time.Second

// ends queries the ends of the source topics, with one query at a time for all callers: a caller
// that arrives during a query shares the next result.
type ends struct {
	ask func(context.Context) (map[bus.TopicPartition]int64, error)

	running sync.Mutex
	shared  singleflight.Group
}

// get returns the ends at a time after the call, or the context's error.
func (e *ends) get(ctx context.Context) (map[bus.TopicPartition]int64, error) {
	answer := e.shared.DoChan("", func() (any, error) {
		e.running.Lock()
		defer e.running.Unlock()
		e.shared.Forget("") // callers from now on share the next query
		ctx, cancel := context.WithTimeout(context.Background(), endsLimit)
		defer cancel()
		return e.ask(ctx)
	})
	select {
	case got := <-answer:
		return got.Val.(map[bus.TopicPartition]int64), got.Err
	case <-ctx.Done():
		return nil, ctx.Err()
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
