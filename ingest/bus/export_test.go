package bus

import (
	"context"
	"time"
)

// NewDelivery returns a Tail that follows nothing, of a client that asks for so many bytes at a time, and what hands
// batches to it as one fetch does.
func NewDelivery(mostBytes int) (*Tail, func(ctx context.Context, batches ...Batch) error) {
	s := &source{taken: make(chan struct{}, 1)}
	t := &Tail{
		client: &Client{cfg: Config{MaxFetchBytes: mostBytes}}, wake: make(chan struct{}, 1), sources: []*source{s},
	}
	return t, func(ctx context.Context, batches ...Batch) error { return t.deliver(ctx, s, batches) }
}

// FetchLimit is how long one fetch may take.
func FetchLimit(cfg Config) time.Duration { return cfg.fetchLimit() }
