package requests_test

import (
	"crypto/ed25519"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/pipeline/requests"
	"lethe/pipeline/role/roletest"
	"lethe/pipeline/wire"
)

// Whoever knows the deployment's key is told nothing by a status that it did not sign.
func TestAForgedStatusSaysNothing(t *testing.T) {
	key := ed25519.NewKeyFromSeed(make([]byte, 32))
	other := ed25519.NewKeyFromSeed([]byte("another key of thirty-two bytes."))
	topics := roletest.NewBus(nil)
	signed := func(id string, state deletions.State, by ed25519.PrivateKey, updated time.Duration) ingest.Outgoing {
		s := entry(t, id, at).Status()
		s.State, s.UpdatedAt = state, at.Add(updated).UTC()
		rec, err := wire.StatusRecord(s, by)
		require.NoError(t, err)
		return rec
	}
	write := func(rec ingest.Outgoing) {
		require.NoError(t, topics.Write(t.Context(), bus.ErasureStatus, []ingest.Outgoing{rec}))
	}
	write(signed("gdpr-1", deletions.Received, key, 0))
	write(signed("gdpr-1", deletions.Accepted, key, time.Second))
	write(signed("gdpr-1", deletions.Verified, other, time.Hour))
	forged := signed("gdpr-1", deletions.Accepted, key, time.Second)
	forged.Value = signed("gdpr-1", deletions.Verified, key, time.Second).Value
	write(forged)
	moved := signed("gdpr-2", deletions.Verified, key, time.Hour)
	moved.Key = []byte("gdpr-1")
	write(moved)
	write(signed("gdpr-1", deletions.Received, key, 0)) // as it was once said
	say(t, topics, "gdpr-3", at, deletions.Verified)    // without a signature

	believed := requests.SignedBy(topics, key.Public().(ed25519.PublicKey))
	for range 2 {
		s, err := requests.Get(t.Context(), believed, "gdpr-1")
		require.NoError(t, err)
		require.Equal(t, deletions.Accepted, s.State)
	}
	all, err := requests.List(t.Context(), believed)
	require.NoError(t, err)
	require.Len(t, all, 1)
	_, err = requests.Get(t.Context(), believed, "gdpr-3")
	require.ErrorIs(t, err, requests.ErrUnknown)
	require.Equal(t, 2, believed.Unsigned())
	s, err := requests.Get(t.Context(), topics, "gdpr-3")
	require.NoError(t, err, "without a key everything is believed")
	require.Equal(t, deletions.Verified, s.State)
}
