package requests_test

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/requests"
	"lethe/pipeline/role/roletest"
)

var at = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// say publishes a request's state as the coordinator does.
func say(t *testing.T, topics *roletest.Bus, id string, received time.Time, state deletions.State) {
	t.Helper()
	r := lethe.ErasureRequest{RequestID: id, Targets: lethe.Transactions("transaction-1")}
	e, err := deletions.NewEntry(lethe.Secret{1}, r, received)
	require.NoError(t, err)
	s := e.Status()
	s.State = state
	value, err := s.Encode()
	require.NoError(t, err)
	require.NoError(t, topics.Write(t.Context(), bus.ErasureStatus, []ingest.Outgoing{{Key: []byte(id), Value: value}}))
}

func TestSubmittedRequestIsInTheTopic(t *testing.T) {
	topics := roletest.NewBus(nil)
	r := lethe.ErasureRequest{RequestID: "gdpr-1", Targets: lethe.Transactions("transaction-1")}
	require.NoError(t, requests.Submit(t.Context(), topics, r, at))
	var keys []string
	require.NoError(t, topics.ReadAll(t.Context(), bus.Erasures, func(rec ingest.Record) error {
		keys = append(keys, string(rec.Key))
		return nil
	}))
	require.Equal(t, []string{"gdpr-1"}, keys)
}

// Every request is listed with its newest state, in the order received.
func TestListHoldsTheNewestStateOfEveryRequest(t *testing.T) {
	topics := roletest.NewBus(nil)
	say(t, topics, "late", at.Add(time.Hour), deletions.Received)
	say(t, topics, "early", at, deletions.Received)
	say(t, topics, "late", at.Add(time.Hour), deletions.Accepted)
	all, err := requests.List(t.Context(), topics)
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Equal(t, "early", all[0].RequestID)
	require.Equal(t, deletions.Accepted, all[1].State)
	_, err = requests.Get(t.Context(), topics, "nobody")
	require.ErrorIs(t, err, requests.ErrUnknown)
}

// Waiting hears of every state it sees and ends with the final one.
func TestWaitFollowsARequestToItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		topics := roletest.NewBus(nil)
		var heard []deletions.State
		ended := make(chan deletions.State, 1)
		go func() {
			s, err := requests.Wait(t.Context(), topics, "gdpr-1", func(s deletions.Status) { heard = append(heard, s.State) })
			require.NoError(t, err)
			ended <- s.State
		}()
		for _, state := range []deletions.State{deletions.Received, deletions.Accepted, deletions.Verified} {
			time.Sleep(time.Second)
			say(t, topics, "gdpr-1", at, state)
		}
		require.Equal(t, deletions.Verified, <-ended)
		require.Equal(t, []deletions.State{deletions.Received, deletions.Accepted, deletions.Verified}, heard)

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := requests.Wait(ctx, topics, "other", nil)
		require.ErrorContains(t, err, "request other is not read yet")
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

func TestIDsSayNothingOfTheSubject(t *testing.T) {
	id, err := requests.NewID(bytes.NewReader([]byte{1, 2, 3, 4, 5, 6, 7, 8}))
	require.NoError(t, err)
	require.Equal(t, "erase-0102030405060708", id)
	_, err = requests.NewID(bytes.NewReader(nil))
	require.Error(t, err)
}
