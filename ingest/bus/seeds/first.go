// Package seeds queries the configured brokers, of which any one can respond, so that a broker that hangs does not
// delay the result.
package seeds

import (
	"context"
	"sync"
	"time"
)

// headStart is how long to wait for one broker before the next one is queried, too: longer than most take to
// respond, with TLS and SASL, and much shorter than the timeout of a broker that hangs.
const headStart = 500 * time.Millisecond

// First queries brokers in their order, each as soon as the previous one has failed or had its head start, and
// returns the first result. Then the context of the other queries ends; results that still arrive are passed to
// drop. If all fail it returns the cause for each broker.
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
			response, err := ask(ctx, broker)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				causes[i] = err
			case answered:
				drop(response)
			default:
				answer, answered = response, true
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
		if causes[i] == nil { // it was not queried
			causes[i] = ctx.Err()
		}
	}
	return answer, causes
}

// awaitEnd waits for the end of an attempt, at most until its head start is over. It returns the context's error if
// no other broker should be queried.
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
