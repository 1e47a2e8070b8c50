package leaders_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/ingest/bus/leaders"
)

const (
	patience = 500 * time.Millisecond
	limit    = 10 * time.Second
)

// told answers at once with what each broker knows of partition 0, and fails for others.
func told(epochs map[int32]int32) leaders.Ask {
	return func(_ context.Context, broker int32, _ string) (map[int]int32, error) {
		if epoch, is := epochs[broker]; is {
			return map[int]int32{0: epoch}, nil
		}
		return nil, errors.New("away")
	}
}

func TestTheHighestEpochCounts(t *testing.T) {
	of := leaders.NewSurvey(told(map[int32]int32{1: 4, 2: 7, 3: 6}), patience, limit)
	require.Equal(t, leaders.Result{Epochs: map[int]int32{0: 7}, Whole: true}, of.Ask(t.Context(), []int32{1, 2, 3}, "t"))
	require.Equal(t, leaders.Result{Epochs: map[int]int32{0: 6}}, of.Ask(t.Context(), []int32{1, 3, 9}, "t"), "9 is away")
	require.Equal(t, leaders.Result{Epochs: map[int]int32{}}, of.Ask(t.Context(), []int32{8, 9}, "t"), "both are away")

	first := leaders.NewSurvey(told(map[int32]int32{1: 0, 2: 0}), patience, limit)
	require.Equal(t, map[int]int32{0: 0}, first.Ask(t.Context(), []int32{1, 2}, "t").Epochs)
}

func TestOneBrokerIsNotAsked(t *testing.T) {
	of := leaders.NewSurvey(func(context.Context, int32, string) (map[int]int32, error) {
		t.Error("asked")
		return nil, nil
	}, patience, limit)
	require.Equal(t, leaders.Result{Whole: true}, of.Ask(t.Context(), []int32{1}, "t"))
}

// hanging is three brokers of which the second does not answer while hangs is true, and knows more than the others.
type hanging struct{ hangs, asked atomic.Int64 }

func (h *hanging) ask(ctx context.Context, broker int32, _ string) (map[int]int32, error) {
	if broker != 2 {
		return map[int]int32{0: 3}, nil
	}
	if h.asked.Add(1); h.hangs.Load() > 0 {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return map[int]int32{0: 9}, nil
}

// A broker that hangs delays the first survey, and others only once what it was asked has failed. As long as it says
// nothing no survey is whole.
func TestABrokerThatHangsIsWaitedForOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := new(hanging)
		h.hangs.Store(1)
		of := leaders.NewSurvey(h.ask, patience, limit)
		took := func(epoch int32, whole bool) time.Duration {
			began := time.Now()
			said := of.Ask(t.Context(), []int32{1, 2, 3}, "t")
			require.Equal(t, leaders.Result{Epochs: map[int]int32{0: epoch}, Whole: whole}, said)
			return time.Since(began)
		}
		require.Equal(t, patience, took(3, false))
		require.Zero(t, took(3, false))
		require.Zero(t, took(3, false))
		require.EqualValues(t, 1, h.asked.Load())
		time.Sleep(limit)
		require.Equal(t, patience, took(3, false), "what it was asked has failed")
		require.EqualValues(t, 2, h.asked.Load())

		h.hangs.Store(0)
		time.Sleep(limit)
		require.Zero(t, took(9, true))
		require.Zero(t, took(9, true))
	})
}

// Whoever has less time than a survey may take learns that a broker hangs as others do; what was asked ends by itself.
func TestWhoAsksMayGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := new(hanging)
		h.hangs.Store(1)
		of := leaders.NewSurvey(h.ask, patience, limit)
		took := func() time.Duration {
			ctx, cancel := context.WithTimeout(t.Context(), patience/2)
			defer cancel()
			began := time.Now()
			require.Equal(t, map[int]int32{0: 3}, of.Ask(ctx, []int32{1, 2, 3}, "t").Epochs)
			return time.Since(began)
		}
		require.Equal(t, patience/2, took())
		require.Equal(t, patience/2, took())
		require.Zero(t, took(), "it has owed an answer for long")
		time.Sleep(limit)
	})
}
