package receipt_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions/receipt"
)

// No statement but the signed one is valid under the key, however the document is altered,
// and one that is decoded is written as one that is decoded. What it says is what a search reads.
func FuzzVerify(f *testing.F) {
	key := signingKey(1)
	want := verifiedReceipt(f, lethe.ScopeStubs)
	data := signed(f, want, key)
	f.Add(data)
	f.Add([]byte(strings.Replace(string(data), `{`, `{"log":{"index":7},`, 1)))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, v, err := receipt.Verify(data, trust(key))
		if err == nil && v.Valid && !got.Deployment.IsZero() {
			require.Equal(t, want, got)
		}
		d, err := receipt.Decode(data)
		if err != nil {
			return
		}
		again, err := d.Encode()
		require.NoError(t, err)
		same, err := receipt.Decode(again)
		require.NoError(t, err)
		require.Equal(t, d, same)
		if payload, err := receipt.Payload(data); err == nil {
			require.Contains(t, string(receipt.Decoded(data)), string(payload))
		}
	})
}
