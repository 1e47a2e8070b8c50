// Package seeds asks the brokers that a client is configured with, of which any one will do: one that hangs must not
// hold up what another one would answer.
package seeds

import (
	"context"
	"sync"
	"time"
)

// headStart is how long one broker is waited for before the next one is asked as well: more than most take to answer,
// with TLS and SASL, and much less than one is given that hangs.
const headStart = 500 * time.Millisecond

// First asks brokers in their order, each once that before it has failed or had its head start, and returns the first
// answer. The context of the others ends then; what they answer all the same is dropped. Without an answer it
// returns why not, by broker.
func First[T any](
	ctx context.Context, brokers []string, ask func(ctx context.Context, broker string) (T, error), drop func(T),
) (answer T, causes []error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	causes = make([]error, len(brokers))
	var mu sync.Mutex
	answered := false
	var all sync.WaitGroup
	for i, broker := range brokers {
		failed := make(chan struct{})
		all.Go(func() {
			defer close(failed)
			said, err := ask(ctx, broker)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				causes[i] = err
			case answered:
				drop(said)
			default:
				answer, answered = said, true
				cancel()
			}
		})
		if awaitEnd(ctx, failed) != nil {
			break
		}
	}
	all.Wait()
	if answered {
		return answer, nil
	}
	for i := range causes {
		if causes[i] == nil { // it was not asked any more
			causes[i] = ctx.Err()
		}
	}
	return answer, causes
}

// awaitEnd waits for the end of an attempt, for as long as its head start takes. It returns the context's error once
// nobody else is to be asked.
func awaitEnd(ctx context.Context, ended <-chan struct{}) error {
	timer := time.NewTimer(headStart)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
	case <-ctx.Done():
	}
	return ctx.Err()
}
