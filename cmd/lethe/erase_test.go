package main

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions"
	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/testbroker"
)

// Nobody carries requests out here.
func TestEraseSubmit_TimeIsUp_NamesWhereToLook(t *testing.T) {
	broker, _ := testbroker.Start(t, nil)
	submit := []string{
		"erase", "submit", "--node", "tx-1", "--request-id", "gdpr-1", "--wait", "--topic-prefix", "lethe.",
		"--data-dir", t.TempDir(), "--brokers", broker.Config().Brokers[0],
	}
	code, _, stderr := execute(t, append(submit, "--timeout=500ms")...)
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "request gdpr-1 did not end within --timeout 500ms (not read yet); it continues, "+
		"see lethe erase status gdpr-1\n")
	code, _, stderr = execute(t, append(submit, "--timeout=-1s")...)
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "--timeout is -1s: give a positive duration, such as 10m\n")
}

// The sibling commands report it too.
func TestEraseSubmit_WaitIgnoresUnsignedStatuses_ReportsThem(t *testing.T) {
	broker, client := testbroker.Start(t, nil)
	entry, err := deletions.NewEntry(lethe.Secret{1}, lethe.ErasureRequest{
		RequestID: "gdpr-3", Targets: lethe.Transactions("tx-1"), Scope: lethe.ScopeStubs,
		Nonce: "00112233445566778899aabbccddeeff",
	}, time.Now())
	require.NoError(t, err)
	status := entry.Status()
	value, err := status.Encode()
	require.NoError(t, err)
	require.NoError(t, client.Write(t.Context(), bus.ErasureStatus,
		[]ingest.Outgoing{{Key: []byte(status.Key()), Value: value}}))

	der, err := x509.MarshalPKIXPublicKey(ed25519.NewKeyFromSeed(make([]byte, 32)).Public())
	require.NoError(t, err)
	key := filepath.Join(t.TempDir(), "key.pem")
	require.NoError(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), 0o600))
	code, _, stderr := execute(t, "erase", "submit", "--node", "tx-1", "--request-id", "gdpr-1", "--wait",
		"--topic-prefix", "lethe.", "--public-key", key, "--brokers", broker.Config().Brokers[0], "--timeout=1s")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "lethe: statuses of 1 requests or holds were ignored: no known key has signed them")
}
