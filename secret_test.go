package lethe_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
)

// What the ledger knows of erased targets, whose ids are gone, outlives every rotation of the secret;
// pseudonyms and all else are others.
func TestHashesOfTheLedgerOutliveARotation(t *testing.T) {
	first := lethe.NewSecret([lethe.SecretKeyBytes]byte{1})
	second := first.Follow([lethe.SecretKeyBytes]byte{2})
	third := second.Follow([lethe.SecretKeyBytes]byte{3})
	require.Equal(t, first, first.Ledger())
	targets := []lethe.Target{
		lethe.Transactions("a")[0], lethe.PaymentBetween("a", "b"),
		{Kind: lethe.FeaturesTarget, Transaction: "a", Columns: lethe.Columns{0}}, {Kind: lethe.SubjectTarget, Subject: "s"},
	}
	for _, s := range []lethe.Secret{second, third} {
		require.Equal(t, first, s.Ledger())
		for _, target := range targets {
			require.Equal(t, first.Suppressed(target), s.Suppressed(target), target.Kind)
		}
		require.Equal(t, first.Deployment("lethe."), s.Deployment("lethe."))
		require.NotEqual(t, first.Pseudonym("a"), s.Pseudonym("a"))
		require.NotEqual(t, first.SubjectPseudonym("s"), s.SubjectPseudonym("s"))
		require.NotEqual(t, first.Hash("anything"), s.Hash("anything"))
	}
	require.NotEqual(t, second.Pseudonym("a"), third.Pseudonym("a"))
	require.Equal(t, second.Pseudonym("a"), lethe.NewSecret(second.Key()).Pseudonym("a"))
}

// A hash is HMAC-SHA-256 under a key for the purpose, of parts framed by their lengths; a hasher makes one after the
// other, and takes no memory for them.
func TestAHasherTakesNoMemory(t *testing.T) {
	code := func(key []byte, content ...[]byte) []byte {
		mac := hmac.New(sha256.New, key)
		mac.Write(bytes.Join(content, nil))
		return mac.Sum(nil)
	}
	secret := lethe.Secret{1, 2, 3}
	hasher := secret.Hasher("purpose")
	long := make([]byte, 1<<16+3)
	for _, parts := range [][][]byte{{long}, {}, {nil}, {[]byte("a"), []byte("bc")}, {[]byte("ab"), []byte("c"), long}} {
		var framed []byte
		for _, part := range parts {
			framed = append(binary.LittleEndian.AppendUint32(framed, uint32(len(part))), part...)
		}
		key := code(secret[:lethe.SecretKeyBytes], []byte("purpose"))
		require.Equal(t, lethe.Digest(code(key, framed)), hasher.Hash(parts...))
	}
	require.Zero(t, testing.AllocsPerRun(100, func() { hasher.Hash(long[:700]) }))

	suppressor := secret.Suppressor()
	for _, id := range []lethe.TransactionID{"a", "", "a", "b"} {
		key := code(secret[:lethe.SecretKeyBytes], []byte("suppression"))
		framed := append(binary.LittleEndian.AppendUint32(nil, uint32(len(id))), id...)
		require.Equal(t, lethe.Digest(code(key, framed)), suppressor.Suppression(id))
		require.Equal(t, suppressor.Suppression(id), secret.Suppression(id))
	}
}

// A pseudonym takes no memory either.
func TestAPseudonymizerTakesNoMemory(t *testing.T) {
	secret := lethe.Secret{1, 2, 3}
	names := secret.Pseudonymizer()
	for _, id := range []lethe.TransactionID{"", "a", "much longer than the one before", "short"} {
		require.Equal(t, secret.Hash("pseudonym", []byte(id)).String()[:32], names.Pseudonym(id).String())
	}
	require.Zero(t, testing.AllocsPerRun(100, func() { names.Pseudonym("transaction-000000001") }))
}
