package requests_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/requests"
	"lethe/pipeline/role/roletest"
)

// counting counts the records that are read.
type counting struct {
	*roletest.Bus
	read int
}

func (c *counting) ReadNew(
	ctx context.Context, t bus.Topic, positions map[int]int64, fn func(ingest.Record) error,
) error {
	return c.Bus.ReadNew(ctx, t, positions, func(rec ingest.Record) error {
		c.read++
		return fn(rec)
	})
}

// However long a request is waited for, what the topic holds of others is read once.
func TestWaitReadsEveryRecordOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		topics := &counting{Bus: roletest.NewBus(nil)}
		const others = 500
		for range others {
			say(t, topics.Bus, "other", at, deletions.Accepted)
		}
		ended := make(chan deletions.State, 1)
		go func() {
			s, err := requests.Wait(t.Context(), topics, submitted(t, request("gdpr-1", "transaction-1")), nil)
			require.NoError(t, err)
			ended <- s.State
		}()
		time.Sleep(time.Minute)
		say(t, topics.Bus, "gdpr-1", at, deletions.Verified)
		require.Equal(t, deletions.Verified, <-ended)
		require.Equal(t, others+1, topics.read)
	})
}

// So are all statuses, however often they are asked for.
func TestFollowReadsEveryRecordOnce(t *testing.T) {
	topics := &counting{Bus: roletest.NewBus(nil)}
	statuses := requests.Follow(topics)
	say(t, topics.Bus, "gdpr-1", at, deletions.Accepted)
	for _, state := range []deletions.State{deletions.Suppressed, deletions.Held} {
		say(t, topics.Bus, "gdpr-1", at, state)
		for range 3 {
			list, err := statuses.List(t.Context())
			require.NoError(t, err)
			require.Len(t, list, 1)
			require.Equal(t, state, list[0].State)
		}
	}
	require.Equal(t, 3, topics.read)
}
