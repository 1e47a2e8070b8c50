package seeds_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/ingest/bus/seeds"
)

var errRefused = errors.New("refused")

// asked is how brokers behave: each answers with its name, fails, or hangs until nobody waits for it.
func asked(after, begun map[string]time.Duration) func(context.Context, string) (string, error) {
	began := time.Now()
	var mu sync.Mutex
	return func(ctx context.Context, broker string) (string, error) {
		mu.Lock()
		begun[broker] = time.Since(began)
		mu.Unlock()
		wait, answers := after[broker]
		if !answers {
			return "", errRefused
		}
		select {
		case <-time.After(wait):
			return broker, nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

func TestTheFirstAnswerIsTaken(t *testing.T) {
	const never = time.Hour
	for _, c := range []struct {
		name  string
		after map[string]time.Duration // without one that fails
		want  string
		takes time.Duration
		begun map[string]time.Duration
	}{
		{"the first is quick", map[string]time.Duration{"a": time.Millisecond, "b": 0, "c": 0}, "a",
			time.Millisecond, map[string]time.Duration{"a": 0}},
		{"one hangs", map[string]time.Duration{"a": never, "b": time.Millisecond}, "b",
			501 * time.Millisecond, map[string]time.Duration{"a": 0, "b": 500 * time.Millisecond}},
		{"one fails", map[string]time.Duration{"b": time.Millisecond}, "b",
			time.Millisecond, map[string]time.Duration{"a": 0, "b": 0}},
		{"two hang", map[string]time.Duration{"a": never, "b": never, "c": 0}, "c",
			time.Second, map[string]time.Duration{"a": 0, "b": 500 * time.Millisecond, "c": time.Second}},
		{"the slow one is still the first", map[string]time.Duration{"a": 700 * time.Millisecond, "b": never, "c": 0}, "a",
			700 * time.Millisecond, map[string]time.Duration{"a": 0, "b": 500 * time.Millisecond}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, begun := time.Now(), make(map[string]time.Duration)
				drop := func(string) { t.Error("something was dropped") }
				answer, causes := seeds.First(t.Context(), []string{"a", "b", "c"}, asked(c.after, begun), drop)
				require.Nil(t, causes)
				require.Equal(t, c.want, answer)
				require.Equal(t, c.takes, time.Since(began))
				require.Equal(t, c.begun, begun)
			})
		})
	}
}

func TestWithoutAnAnswerTheCausesAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, begun := time.Now(), make(map[string]time.Duration)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		after := map[string]time.Duration{"b": time.Hour}
		_, causes := seeds.First(ctx, []string{"a", "b", "c"}, asked(after, begun), nil)
		require.Equal(t, []error{errRefused, context.DeadlineExceeded, errRefused}, causes)
		require.Equal(t, 5*time.Second, time.Since(began))
	})
}

func TestWhoIsNotAskedAnyMoreHasACauseToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := make(map[string]time.Duration)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_, causes := seeds.First(ctx, []string{"a", "b"}, asked(map[string]time.Duration{"a": time.Hour}, begun), nil)
		require.Equal(t, []error{context.DeadlineExceeded, context.DeadlineExceeded}, causes)
		require.Len(t, begun, 1)
	})
}

// Who answers although its context has ended is dropped: a connection that nobody uses is to be closed.
func TestASecondAnswerIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var dropped []string
		ask := func(ctx context.Context, broker string) (string, error) {
			if broker == "a" {
				<-ctx.Done()
			}
			return broker, nil
		}
		answer, causes := seeds.First(t.Context(), []string{"a", "b"}, ask, func(s string) { dropped = append(dropped, s) })
		require.Nil(t, causes)
		require.Equal(t, "b", answer)
		require.Equal(t, []string{"a"}, dropped)
	})
}
