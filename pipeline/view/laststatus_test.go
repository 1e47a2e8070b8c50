package view_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
)

// A status that somebody writes again as it is, or who leads no more writes late, sets no request back: people, and
// privacy tools that are called back, are told how far it has come. So it is where the topic is read anew.
func TestAnEarlierStatusSetsNothingBack(t *testing.T) {
	r := newRig(t)
	entry, err := deletions.NewEntry(secret, lethe.ErasureRequest{
		RequestID: "gdpr-1", Targets: lethe.Transactions("anybody"),
	}, time.Unix(1, 0))
	require.NoError(t, err)
	says := func(state deletions.State, at int64) ingest.Outgoing {
		status := entry.Status()
		status.State, status.UpdatedAt = state, time.Unix(at, 0).UTC()
		value, err := status.Encode()
		require.NoError(t, err)
		return ingest.Outgoing{Key: []byte(status.Key()), Value: value}
	}
	is := func(want deletions.State) {
		t.Helper()
		got, err := r.reader.Requests().Status("gdpr-1")
		require.NoError(t, err)
		require.Equal(t, want, got.State)
	}
	r.write(bus.ErasureStatus, says(deletions.Accepted, 2))
	is(deletions.Accepted)
	r.write(bus.ErasureStatus, says(deletions.Rewriting, 3))
	r.write(bus.ErasureStatus, says(deletions.Accepted, 2))
	is(deletions.Rewriting)
	r.write(bus.ErasureStatus, says(deletions.Verified, 4), says(deletions.Accepted, 2), says(deletions.Rewriting, 3))
	is(deletions.Verified)
}
