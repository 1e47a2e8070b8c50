package bus_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"lethe/ingest"
	"lethe/ingest/bus"
)

// Who gives up in the midst of a call is not waited for any more: nobody would ever say that it is
// over. It may do so between two attempts or while brokers owe an answer.
func TestWhoGivesUpWaitsNoMore(t *testing.T) {
	for name, call := range map[string]func(context.Context, *bus.Client) error{
		"write": func(ctx context.Context, c *bus.Client) error {
			return c.Write(ctx, bus.Labels, []ingest.Outgoing{pinned("a", "1", 0)})
		},
		"ends": func(ctx context.Context, c *bus.Client) error {
			_, err := c.EndOffsets(ctx, bus.Labels)
			return err
		},
		"holds": func(ctx context.Context, c *bus.Client) error {
			_, err := c.Holds(ctx, labels0, 0)
			return err
		},
		"tail": func(ctx context.Context, c *bus.Client) error {
			follower, err := c.Tail(map[bus.TopicPartition]int64{labels0: 0})
			if err == nil {
				_, err = follower.Next(ctx)
				err = errors.Join(err, follower.Close())
			}
			return err
		},
	} {
		for _, silent := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/silent=%t", name, silent), func(t *testing.T) {
				t.Parallel()
				givesUp(t, silent, call)
			})
		}
	}
}

// Brokers that have never answered a client have not told it that there is no such topic, though its transport calls
// it missing: a partition is waited for however often that was told.
func TestATopicIsNotMissingWhileNobodyHasAnswered(t *testing.T) {
	t.Parallel()
	cfg := hasty()
	cfg.DialTimeout = 1100 * time.Millisecond
	cluster, c, w := patient(t, cfg)
	cluster.Control(func(kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		return nil, errors.New("away"), true
	})
	ctx, cancel := context.WithTimeout(t.Context(), 10*cfg.DialTimeout)
	defer cancel()
	_, err := tail(t, c, map[bus.TopicPartition]int64{labels0: 0}).Next(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Positive(t, w.waiting())
}

// givesUp calls brokers that refuse, and then answer nothing if they are silent, until somebody waits.
func givesUp(t *testing.T, silent bool, call func(context.Context, *bus.Client) error) {
	cfg := hasty()
	cluster, c, w := patient(t, cfg)
	mute, asked, end := atomic.Bool{}, make(chan struct{}, 1), make(chan struct{})
	defer close(end)
	cluster.Control(func(kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		if mute.Load() {
			select {
			case asked <- struct{}{}:
			default:
			}
			<-end
		}
		return nil, errors.New("away"), true
	})
	ctx, giveUp := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- call(ctx, c) }()
	require.Eventually(t, func() bool { return w.waiting() > 0 }, 10*time.Second, 10*time.Millisecond)
	if mute.Store(silent); silent {
		select {
		case <-asked:
		case err := <-done:
			require.NoError(t, err, "it did not wait until somebody gave it up")
		}
	}
	giveUp()
	require.ErrorIs(t, <-done, context.Canceled)
	require.Zero(t, w.waiting())
}

// Whoever writes to a topic, or asks where it ends, waits when it is deleted, and goes on once it is there again, with
// the partitions that it had.
func TestATopicThatIsDeletedIsWrittenToOnceItIsThereAgain(t *testing.T) {
	t.Parallel()
	b, _ := open(t, nil)
	cfg, w := b.config, &watched{}
	cfg.DialTimeout = 100 * time.Millisecond
	c, err := bus.OpenPatient(cfg, w.watch)
	require.NoError(t, err)
	defer c.Close()
	name := c.Name(bus.Predictions)
	raw := b.raw(t)
	create := func(partitions int) {
		t.Helper()
		made, err := raw.CreateTopics(t.Context(), &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{
			{Topic: name, NumPartitions: partitions, ReplicationFactor: 1},
		}})
		require.NoError(t, err)
		require.NoError(t, made.Errors[name])
	}
	remove := func() {
		t.Helper()
		deleted, err := raw.DeleteTopics(t.Context(), &kafka.DeleteTopicsRequest{Topics: []string{name}})
		require.NoError(t, err)
		require.NoError(t, deleted.Errors[name])
	}
	waits := func(done chan error) {
		t.Helper()
		select {
		case err := <-done:
			require.NoError(t, err, "it did not wait")
			t.Fatal("there was no partition to write to")
		case <-time.After(2 * time.Second): // more than brokers are doubted for
		}
		require.Positive(t, w.waiting())
	}
	over := func() bool { return w.waiting() == 0 }
	write := func() chan error {
		done := make(chan error, 2)
		go func() { done <- c.Write(t.Context(), bus.Predictions, []ingest.Outgoing{pinned("k", "v", 1)}) }()
		return done
	}
	require.NoError(t, <-write())

	remove()
	done := write()
	go func() {
		_, err := c.EndOffsets(t.Context(), bus.Predictions)
		done <- err
	}()
	waits(done)
	create(cfg.Partitions)
	require.NoError(t, <-done)
	require.NoError(t, <-done)
	require.Eventually(t, over, 5*time.Second, 10*time.Millisecond)

	remove()
	create(1) // the record is for another one
	done = write()
	waits(done)
	made, err := raw.CreatePartitions(t.Context(), &kafka.CreatePartitionsRequest{Topics: []kafka.TopicPartitionsConfig{
		{Name: name, Count: int32(cfg.Partitions)},
	}})
	require.NoError(t, err)
	require.NoError(t, made.Errors[name])
	require.NoError(t, <-done)
	require.Eventually(t, over, 5*time.Second, 10*time.Millisecond)
}
