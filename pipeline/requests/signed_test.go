package requests_test

import (
	"crypto"
	"crypto/ed25519"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/authority"
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

// Holds, refusals and how many must sign are believed, too, only if the deployment has said so: a hold that is not in
// force, or a lift of one that is, would have somebody erase what he must keep.
func TestAForgedAnswerSaysNothing(t *testing.T) {
	key := ed25519.NewKeyFromSeed(make([]byte, 32))
	other := ed25519.NewKeyFromSeed([]byte("another key of thirty-two bytes."))
	topics := roletest.NewBus(nil)
	write := func(by ed25519.PrivateKey, records ...ingest.Outgoing) {
		if by != nil {
			var err error
			records, err = wire.SignAnswers(records, by)
			require.NoError(t, err)
		}
		require.NoError(t, topics.Write(t.Context(), bus.ErasureStatus, records))
	}
	hold := func(name string, offset int64, lifted bool) ingest.Outgoing {
		said := deletions.Position{At: at, Offset: offset}
		h, err := deletions.NewHold(lethe.Secret{1}, name, "case 7", lethe.Transactions("a"), time.Time{}, said)
		require.NoError(t, err)
		if lifted {
			h.LiftedAt = at
		}
		value, err := h.Encode()
		require.NoError(t, err)
		return ingest.Outgoing{Key: []byte(h.Key()), Value: value}
	}
	write(key, hold("case-7", 1, false), hold("case-7", 3, true), hold("case-7", 4, false))
	write(nil, hold("case-7", 9, true), hold("case-8", 1, false))
	write(other, hold("case-7", 9, true))
	moved, err := wire.SignAnswers([]ingest.Outgoing{hold("case-9", 9, false)}, key)
	require.NoError(t, err)
	moved[0].Key = hold("case-8", 1, false).Key
	write(nil, moved...)
	write(key, hold("case-7", 3, true)) // as it was once said
	settings, err := wire.Settings{Role: wire.Requests, Values: map[string]string{wire.RequestsSigned: "2"}}.Record()
	require.NoError(t, err)
	write(nil, settings)

	believed := requests.SignedBy(topics, key.Public().(ed25519.PublicKey))
	for range 2 {
		holds, err := requests.Holds(t.Context(), believed)
		require.NoError(t, err)
		require.Len(t, holds, 1)
		require.Equal(t, int64(4), holds[0].LastChange.Offset)
		require.True(t, holds[0].InForce(at.Add(time.Hour)))
	}
	require.Equal(t, 2, believed.Unsigned())

	// Nor does anybody but the deployment refuse what was signed, or ask for signatures.
	signing := requests.SignedWith(believed, authority.Signer{
		Keys: []crypto.Signer{key}, Topic: string(bus.Erasures), At: at, Valid: time.Hour,
	})
	request := ingest.Outgoing{Key: []byte("r"), Value: []byte("{}")}
	require.NoError(t, signing.Write(t.Context(), bus.Erasures, []ingest.Outgoing{request}))
	var refused ingest.Record
	for _, rec := range roletest.Records(t, topics, bus.Erasures) {
		refused = rec
	}
	answer, due, err := wire.RefusedControl(refused, &ingest.Refusal{Reason: ingest.WrongRole, Detail: "because"})
	require.NoError(t, err)
	require.True(t, due)
	write(nil, answer)
	write(other, answer)
	_, err = requests.Holds(t.Context(), signing)
	require.NoError(t, err)
	write(key, answer)
	_, err = requests.Holds(t.Context(), signing)
	require.ErrorIs(t, err, requests.ErrRefused)

	unsigned := requests.SignedWith(believed, authority.Signer{})
	_, err = requests.Holds(t.Context(), unsigned)
	require.NoError(t, err)
	require.NoError(t, unsigned.Write(t.Context(), bus.Erasures, []ingest.Outgoing{request}))
	write(key, settings)
	_, err = requests.Holds(t.Context(), unsigned)
	require.NoError(t, err)
	require.ErrorIs(t, unsigned.Write(t.Context(), bus.Erasures, []ingest.Outgoing{request}), requests.ErrUnsigned)

	// It may stop to ask, and what it said before counts no more when it is written again.
	none := wire.Settings{Role: wire.Requests, Values: map[string]string{wire.RequestsSigned: "0"}, Since: at}
	fewer, err := none.Record()
	require.NoError(t, err)
	write(key, fewer)
	write(key, settings)
	_, err = requests.Holds(t.Context(), unsigned)
	require.NoError(t, err)
	require.NoError(t, unsigned.Write(t.Context(), bus.Erasures, []ingest.Outgoing{request}))
}
