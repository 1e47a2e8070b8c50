package service_test

import (
	"crypto"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/configs"
	"lethe/deletions"
	"lethe/deletions/receipt"
	"lethe/ingest"
	"lethe/ingest/authority"
	"lethe/ingest/bus"
	"lethe/internal/jws"
	"lethe/pipeline/deadletters"
	"lethe/pipeline/requests"
	"lethe/service"
	"lethe/service/servicetest"
)

func keyOf(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(seed[:])
}

// signedConfig requires every signature that there is.
func signedConfig(t *testing.T, dir string) configs.Config {
	c := servicetest.SmallConfig(t, dir)
	var lines []string
	for _, one := range []struct {
		name string
		role authority.Role
	}{{"anna", authority.Compliance}, {"bert", authority.Compliance}, {"feed", authority.Producer}} {
		lines = append(lines, authority.Line(one.role, one.name, keyOf(one.name).Public().(ed25519.PublicKey)))
	}
	file := filepath.Join(t.TempDir(), "authority.keys")
	require.NoError(t, os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o600))
	c.Signatures = authority.Config{KeysFile: file, Control: true, Requests: 2}
	return c
}

// as is somebody who signs what he says of requests.
func signing(r *running, names ...string) *requests.Signing {
	signer := authority.Signer{Topic: r.Client().Name(bus.Erasures), At: time.Now(), Valid: time.Hour}
	for _, name := range names {
		signer.Keys = append(signer.Keys, keyOf(name))
	}
	return requests.SignedWith(r.Client(), signer)
}

// Whoever may write to the source topics cannot end a timestep early and have its records come late
// (S5): close and settle records that no producer has signed are dead letters.
func TestAForgedCloseMakesNothingLate(t *testing.T) {
	t.Parallel()
	stream := servicetest.SmallStream(t, 3, 40, 3)
	undisturbed := start(t, servicetest.SmallConfig(t, t.TempDir()))
	want := undisturbed.Replay(stream)
	predictions := finalPredictions(undisturbed)
	undisturbed.Stop()

	r := start(t, signedConfig(t, t.TempDir()))
	forge := func(topic bus.Topic, signer authority.Signer, encode func(lethe.Timestep, int) (key, value []byte)) {
		partitions, err := r.Client().Partitions(t.Context(), topic)
		require.NoError(t, err)
		for p := range partitions {
			key, value := encode(stream.Steps[2].Timestep, p)
			rec, err := signer.Sign(ingest.Outgoing{Key: key, Value: value, Pinned: true, Partition: p})
			require.NoError(t, err)
			require.NoError(t, r.Forger().Write(t.Context(), topic, []ingest.Outgoing{rec}))
		}
	}
	options := service.ReplayOptions{Sign: []crypto.Signer{keyOf("feed")}}
	_, err := service.Replay(t.Context(), r.Client(), servicetest.Part(t, stream, 1, 2), options)
	require.NoError(t, err)
	forge(bus.Transactions, authority.Signer{}, ingest.EncodeClose)
	forge(bus.Transactions, authority.Signer{
		Keys: []crypto.Signer{keyOf("mallory")}, Topic: r.Client().Name(bus.Transactions), At: time.Now(),
	}, ingest.EncodeClose)
	forge(bus.Labels, authority.Signer{
		Keys: []crypto.Signer{keyOf("anna")}, Topic: r.Client().Name(bus.Labels), At: time.Now(),
	}, ingest.EncodeSettle)
	r.Await(func(*service.Status) bool {
		reasons := make(map[ingest.Reason]int)
		letters, err := deadletters.List(t.Context(), r.Client(), deadletters.Filter{})
		require.NoError(t, err)
		for _, letter := range letters {
			reasons[letter.Refusal.Reason]++
		}
		return reasons[ingest.UnknownKey] == 2 && reasons[ingest.WrongRole] == 2 // the last of each key
	})

	_, err = service.Replay(t.Context(), r.Client(), servicetest.Part(t, stream, 3, 3), options)
	require.NoError(t, err)
	got := r.Await(func(st *service.Status) bool {
		return st.TrainedThrough == want.TrainedThrough && st.LagRecords == 0
	})
	require.Equal(t, want.EnsembleHash, got.EnsembleHash)
	require.Equal(t, predictions, finalPredictions(r), "none says that it is late")
}

// An erasure that two people must sign waits for the second one, and its receipt names both keys.
// What is not signed rightly is refused with the statement that fails.
func TestTwoPeopleSignAnErasure(t *testing.T) {
	t.Parallel()
	r := start(t, signedConfig(t, t.TempDir()))
	stream := servicetest.SmallStream(t, 2, 40, 3)
	_, err := service.Replay(t.Context(), r.Client(), stream, service.ReplayOptions{Sign: []crypto.Signer{keyOf("feed")}})
	require.NoError(t, err)
	r.Await(func(st *service.Status) bool { return st.TrainedThrough == 2 && st.LagRecords == 0 })
	ctx := t.Context()
	request := func(id string) lethe.ErasureRequest {
		targets := lethe.Transactions(servicetest.LabelledIllicit(stream, 1)[0])
		return lethe.ErasureRequest{RequestID: id, Targets: targets}
	}
	for id, c := range map[string]struct {
		by  []string
		why deletions.FailureCode
	}{
		"nobody": {nil, deletions.RejectedUnsigned}, "stranger": {[]string{"mallory"}, deletions.RejectedKey},
		"producer": {[]string{"feed"}, deletions.RejectedRole},
	} {
		submitted, err := requests.Submit(ctx, signing(r, c.by...), request(id), time.Now())
		require.NoError(t, err)
		s, err := requests.Wait(ctx, r.Client(), submitted, nil)
		require.NoError(t, err)
		require.Equal(t, deletions.Rejected, s.State)
		require.Equal(t, c.why, s.Failure)
	}
	submitted, err := requests.Submit(ctx, signing(r, "anna"), request("gdpr-1"), time.Now())
	require.NoError(t, err)
	s, err := requests.Wait(ctx, r.Client(), submitted, nil)
	require.NoError(t, err)
	require.Equal(t, deletions.Held, s.State)
	// V43: its record and those behind it stay in the topic, and were read all the same.
	_, err = requests.Submit(ctx, signing(r, "anna"), request("gdpr-2"), time.Now())
	require.NoError(t, err)
	r.Await(func(st *service.Status) bool { return st.Erasures[deletions.Held] == 2 && st.LagRecords == 0 })

	_, err = requests.Approve(ctx, signing(r, "anna"), "gdpr-1", submitted.Digest, time.Now())
	require.ErrorIs(t, err, requests.ErrRefused)
	require.ErrorContains(t, err, "same_person")
	_, err = requests.Approve(ctx, signing(r), "gdpr-1", submitted.Digest, time.Now())
	require.ErrorIs(t, err, requests.ErrUnsigned)
	_, err = requests.Cancel(ctx, signing(r, "mallory"), "gdpr-1", submitted.Digest, time.Now())
	require.ErrorIs(t, err, requests.ErrRefused)
	require.ErrorContains(t, err, "unknown_key")
	_, err = requests.SetHold(ctx, signing(r, "feed"), ingest.Hold{
		Name: "case", Reason: "case 7", RequestedAt: time.Now(),
		Transactions: []lethe.TransactionID{servicetest.LabelledIllicit(stream, 1)[0]},
	})
	require.ErrorContains(t, err, "wrong_role")

	seen, status, err := requests.Waiting(ctx, r.Client(), "gdpr-1")
	require.NoError(t, err)
	require.Equal(t, request("gdpr-1").Targets, seen.Targets)
	require.Equal(t, lethe.ScopeStubs, seen.Scope, "the default")
	_, err = requests.Approve(ctx, signing(r, "bert"), "gdpr-1", status.RequestDigest, time.Now())
	require.NoError(t, err)
	for s = r.StatusOf("gdpr-1"); s.State != deletions.Verified; s = r.StatusOf("gdpr-1") {
		require.False(t, s.State.Final(), s.State)
		time.Sleep(100 * time.Millisecond)
	}
	both := []string{jws.Thumbprint(keyOf("anna").Public().(ed25519.PublicKey)),
		jws.Thumbprint(keyOf("bert").Public().(ed25519.PublicKey))}
	require.Equal(t, both, s.SignedBy)
	payload, err := receipt.Payload([]byte(r.Newest(bus.Receipts)["gdpr-1"]))
	require.NoError(t, err)
	var said receipt.Receipt
	require.NoError(t, json.Unmarshal(payload, &said))
	require.Equal(t, both, said.SignedBy)
	logged := strings.Join(leavesOf(r), "\n")
	require.Contains(t, logged, `"signed_by":["`+both[0]+`","`+both[1]+`"],"state":"accepted"`)
}

// logged are the leaves of the published log.
func leavesOf(r *running) (out []string) {
	for _, value := range r.Newest(bus.Log) {
		out = append(out, value)
	}
	return out
}
