package service

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/ingest/bus"
	"lethe/pipeline/role"
)

// A process that stands by reads no requests: they are not behind, whatever it read when it led.
func TestNothingWaitsForAProcessThatLeavesItToTheLeader(t *testing.T) {
	taken, requests := bus.TopicPartition{Topic: bus.Transactions}, bus.TopicPartition{Topic: bus.Erasures}
	s := &Service{ends: &ends{ask: func(context.Context) (map[bus.TopicPartition]int64, error) {
		return map[bus.TopicPartition]int64{taken: 10, requests: 30}, nil
	}}}
	known := &role.Status{Consumed: map[bus.TopicPartition]int64{taken: 7, requests: 4}}
	lag, err := s.lag(t.Context(), known)
	require.NoError(t, err)
	require.Equal(t, int64(3+26), lag)
	known.LeftToLeader = []bus.Topic{bus.Erasures}
	lag, err = s.lag(t.Context(), role.Merge(&role.Status{}, known))
	require.NoError(t, err)
	require.Equal(t, int64(3), lag)
}

// 200 calls beside each other ask the brokers once at a time, and each gets what was
// so after it came.
func TestEndsAreAskedForOnceAtATime(t *testing.T) {
	var asked, beside atomic.Int64
	e := &ends{ask: func(context.Context) (map[bus.TopicPartition]int64, error) {
		if beside.Add(1) > 1 {
			t.Error("asked twice at once")
		}
		defer beside.Add(-1)
		at := asked.Add(1)
		time.Sleep(time.Millisecond)
		return map[bus.TopicPartition]int64{{}: at}, nil
	}}
	var calls sync.WaitGroup
	for range 200 {
		calls.Go(func() {
			before := asked.Load()
			at, err := e.get(t.Context())
			if err != nil || at[bus.TopicPartition{}] <= before {
				t.Errorf("%d after %d: %v", at[bus.TopicPartition{}], before, err)
			}
		})
	}
	calls.Wait()
	require.Less(t, asked.Load(), int64(100))
}

// Brokers that hang do not keep anybody waiting longer than he wants to.
func TestEndsThatNobodyTells(t *testing.T) {
	hang := make(chan struct{})
	e := &ends{ask: func(context.Context) (map[bus.TopicPartition]int64, error) {
		<-hang
		return nil, errors.New("gone")
	}}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err := e.get(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	close(hang)
	_, err = e.get(t.Context())
	require.ErrorContains(t, err, "gone")
}
