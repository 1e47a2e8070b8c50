package leaders_test

import (
	"context"
	"errors"
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
	require.Equal(t, map[int]int32{0: 7}, of.Epochs(t.Context(), []int32{1, 2, 3}, "t"))
	require.Equal(t, map[int]int32{0: 6}, of.Epochs(t.Context(), []int32{1, 3, 9}, "t"), "9 is away")
	require.Empty(t, of.Epochs(t.Context(), []int32{8, 9}, "t"), "both are away")

	first := leaders.NewSurvey(told(map[int32]int32{1: 0, 2: 0}), patience, limit)
	require.Equal(t, map[int]int32{0: 0}, first.Epochs(t.Context(), []int32{1, 2}, "t"))
}

func TestOneBrokerIsNotAsked(t *testing.T) {
	of := leaders.NewSurvey(func(context.Context, int32, string) (map[int]int32, error) {
		t.Error("asked")
		return nil, nil
	}, patience, limit)
	require.Empty(t, of.Epochs(t.Context(), []int32{1}, "t"))
}

// A broker that hangs delays the first survey, and others only once what it was asked has failed.
func TestABrokerThatHangsIsWaitedForOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs, asked := true, 0
		of := leaders.NewSurvey(func(ctx context.Context, broker int32, _ string) (map[int]int32, error) {
			if broker == 2 {
				if asked++; hangs {
					<-ctx.Done()
					return nil, ctx.Err()
				}
				return map[int]int32{0: 9}, nil
			}
			return map[int]int32{0: 3}, nil
		}, patience, limit)
		took := func(epoch int32) time.Duration {
			began := time.Now()
			require.Equal(t, map[int]int32{0: epoch}, of.Epochs(t.Context(), []int32{1, 2, 3}, "t"))
			return time.Since(began)
		}
		require.Equal(t, patience, took(3))
		require.Zero(t, took(3))
		require.Zero(t, took(3))
		require.Equal(t, 1, asked)
		time.Sleep(limit)
		require.Equal(t, patience, took(3), "what it was asked has failed")
		require.Equal(t, 2, asked)

		hangs = false
		time.Sleep(limit)
		require.Zero(t, took(9))
	})
}

// Who asked may go, and what was asked ends by itself.
func TestWhoAskedMayGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := leaders.NewSurvey(func(ctx context.Context, _ int32, _ string) (map[int]int32, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, patience, limit)
		ctx, cancel := context.WithTimeout(t.Context(), patience/2)
		defer cancel()
		began := time.Now()
		require.Empty(t, of.Epochs(ctx, []int32{1, 2}, "t"))
		require.Equal(t, patience/2, time.Since(began))
		time.Sleep(limit)
	})
}
