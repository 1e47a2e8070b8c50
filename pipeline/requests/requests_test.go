package requests_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"strings"
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
	s := entry(t, id, received).Status()
	s.State = state
	publish(t, topics, s)
}

// entry is that of a request for one transaction.
func entry(t *testing.T, id string, received time.Time) *deletions.Entry {
	t.Helper()
	e, err := deletions.NewEntry(lethe.Secret{1}, request(id, "transaction-1"), received)
	require.NoError(t, err)
	return &e
}

// request has a nonce of its own for each request id.
func request(id string, nodes ...lethe.TransactionID) lethe.ErasureRequest {
	nonce := hex.EncodeToString([]byte(id + "...............")[:16])
	targets := lethe.Transactions(nodes...)
	return lethe.ErasureRequest{RequestID: id, Targets: targets, Scope: lethe.ScopeStubs, Nonce: nonce}
}

// submitted is what a submitter knows of a request.
func submitted(t *testing.T, r lethe.ErasureRequest) requests.Submitted {
	t.Helper()
	digest, err := deletions.RequestDigest(r)
	require.NoError(t, err)
	return requests.Submitted{RequestID: r.RequestID, Digest: digest}
}

func publish(t *testing.T, topics *roletest.Bus, s deletions.Status) {
	t.Helper()
	value, err := s.Encode()
	require.NoError(t, err)
	require.NoError(t, topics.Write(t.Context(), bus.ErasureStatus,
		[]ingest.Outgoing{{Key: []byte(s.Key()), Value: value}}))
}

func TestSubmittedRequestIsInTheTopic(t *testing.T) {
	topics := roletest.NewBus(nil)
	r := lethe.ErasureRequest{RequestID: "gdpr-1", Targets: lethe.Transactions("transaction-1")}
	sent, err := requests.Submit(t.Context(), topics, r, at)
	require.NoError(t, err)
	require.Equal(t, "gdpr-1", sent.RequestID)
	var keys []string
	for _, rec := range roletest.Records(t, topics, bus.Erasures) {
		keys = append(keys, string(rec.Key))
	}
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

// The status of a request that somebody writes under the name of another one is not taken for that one's, whether or
// not a key is known by which statuses are checked.
func TestAStatusCountsUnderItsOwnName(t *testing.T) {
	topics := roletest.NewBus(nil)
	say(t, topics, "mine", at, deletions.Retraining)
	other := entry(t, "other", at).Status()
	other.State = deletions.Verified
	value, err := other.Encode()
	require.NoError(t, err)
	for _, key := range []string{"mine", "nobody"} {
		require.NoError(t, topics.Write(t.Context(), bus.ErasureStatus,
			[]ingest.Outgoing{{Key: []byte(key), Value: value}}))
	}
	s, err := requests.Get(t.Context(), topics, "mine")
	require.NoError(t, err)
	require.Equal(t, "mine", s.RequestID)
	require.Equal(t, deletions.Retraining, s.State)
	_, err = requests.Get(t.Context(), topics, "nobody")
	require.ErrorIs(t, err, requests.ErrUnknown)
	all, err := requests.List(t.Context(), topics)
	require.NoError(t, err)
	require.Len(t, all, 1)
}

// Waiting hears of every state it sees and ends with the final one.
func TestWaitFollowsARequestToItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		topics := roletest.NewBus(nil)
		var heard []deletions.State
		ended := make(chan deletions.State, 1)
		go func() {
			s, err := requests.Wait(t.Context(), topics, submitted(t, request("gdpr-1", "transaction-1")),
				func(s deletions.Status) { heard = append(heard, s.State) })
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
		_, err := requests.Wait(ctx, topics, submitted(t, request("other", "transaction-1")), nil)
		require.ErrorContains(t, err, "request other is not read yet")
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

// Whoever waits for a request is not told of another that has the same id.
func TestWaitGoesByTheContent(t *testing.T) {
	topics := roletest.NewBus(nil)
	say(t, topics, "gdpr-1", at, deletions.Verified)
	other := request("gdpr-1", "transaction-2")
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := requests.Wait(ctx, topics, submitted(t, other), nil)
	require.ErrorIs(t, err, context.DeadlineExceeded, "the first is verified, not this one")

	e, err := deletions.NewEntry(lethe.Secret{1}, other, at)
	require.NoError(t, err)
	publish(t, topics, e.Refuse(deletions.RejectedConflict, at))
	s, err := requests.Wait(t.Context(), topics, submitted(t, other), nil)
	require.NoError(t, err)
	require.Equal(t, deletions.Rejected, s.State)
	require.Equal(t, deletions.RejectedConflict, s.Failure)
	first, err := requests.Get(t.Context(), topics, "gdpr-1")
	require.NoError(t, err)
	require.Equal(t, deletions.Verified, first.State, "the first keeps its status")
}

// A request that repeats another ends when that one does, and its outcomes are in
// its own order.
func TestWaitFollowsTheRequestThatIsRepeated(t *testing.T) {
	topics := roletest.NewBus(nil)
	first, err := deletions.NewEntry(lethe.Secret{1}, request("gdpr-1", "transaction-1", "transaction-2"), at)
	require.NoError(t, err)
	again := request("gdpr-1", "transaction-2", "transaction-1")
	again.Nonce = strings.Repeat("0", 32)
	second, err := deletions.NewEntry(lethe.Secret{1}, again, at)
	require.NoError(t, err)
	publish(t, topics, second.Repeat(first))
	s := first.Status()
	s.State = deletions.Verified
	s.Outcomes[0].Outcome, s.Outcomes[1].Outcome = deletions.OutcomeErased, deletions.OutcomeNothingHeld
	publish(t, topics, s)
	got, err := requests.Wait(t.Context(), topics, submitted(t, again), nil)
	require.NoError(t, err)
	require.Equal(t, deletions.Verified, got.State)
	require.Equal(t, []deletions.TargetOutcome{s.Outcomes[1], s.Outcomes[0]}, got.Outcomes)
	all, err := requests.List(t.Context(), topics)
	require.NoError(t, err)
	require.Len(t, all, 1)
}

// A request named after its subject is not sent.
func TestARequestNamedAfterItsSubjectIsNotSent(t *testing.T) {
	for id, node := range map[string]lethe.TransactionID{
		"about-230007682": "230007682", "gdpr-42": "42", "x230007682y": "230007682", "a.b": "a.b",
	} {
		topics := roletest.NewBus(nil)
		_, err := requests.Submit(t.Context(), topics, request(id, "other", node), at)
		require.ErrorIs(t, err, deletions.ErrNamesTarget, id)
		require.NotContains(t, err.Error(), string(node))
		require.NoError(t, topics.ReadAll(t.Context(), bus.Erasures, func(ingest.Record) error {
			t.Error("something was sent")
			return nil
		}))
	}
	_, err := requests.Submit(t.Context(), roletest.NewBus(nil), request("gdpr-421", "42"), at)
	require.NoError(t, err)
}

func TestIDsSayNothingOfTheSubject(t *testing.T) {
	id, err := requests.NewID(bytes.NewReader([]byte{1, 2, 3, 4, 5, 6, 7, 8}))
	require.NoError(t, err)
	require.Equal(t, "erase-0102030405060708", id)
	_, err = requests.NewID(bytes.NewReader(nil))
	require.Error(t, err)
}

// Who cancels is told what became of it: by the content, and not after the request has begun
// to be carried out.
func TestCancelWaitsForTheAnswer(t *testing.T) {
	topics := roletest.NewBus(nil)
	_, err := requests.Cancel(t.Context(), topics, "gdpr-1", lethe.Digest{}, at)
	require.ErrorIs(t, err, requests.ErrUnknown)

	say(t, topics, "gdpr-1", at, deletions.Rewriting)
	_, err = requests.Cancel(t.Context(), topics, "gdpr-1", lethe.Digest{}, at)
	require.ErrorIs(t, err, requests.ErrTooLate)
	require.ErrorContains(t, err, "request gdpr-1 is rewriting")
	_, err = requests.Cancel(t.Context(), topics, "gdpr-1", lethe.Digest{1}, at)
	require.ErrorIs(t, err, requests.ErrDigest)

	say(t, topics, "gdpr-2", at, deletions.Suppressed)
	known, err := requests.Get(t.Context(), topics, "gdpr-2")
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() {
		s, err := requests.Cancel(t.Context(), topics, "gdpr-2", known.RequestDigest, at)
		if err == nil && s.State != deletions.Cancelled {
			err = errors.New(string(s.State))
		}
		ended <- err
	}()
	sent := func() (cancelled ingest.Event) {
		require.NoError(t, topics.ReadAll(t.Context(), bus.Erasures, func(rec ingest.Record) (err error) {
			cancelled, err = ingest.DecodeErasure(rec, ingest.DefaultLimits())
			return err
		}))
		return cancelled
	}
	require.Eventually(t, func() bool { return sent() != nil }, time.Minute, time.Millisecond)
	require.Equal(t, ingest.Cancel{RequestID: "gdpr-2", Digest: known.RequestDigest, RequestedAt: at.UTC()}, sent())
	known.State = deletions.Cancelled
	publish(t, topics, known)
	require.NoError(t, <-ended)
}
