package receipt_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions/receipt"
)

// No document but the signed one is valid under the key, however it is altered.
func FuzzVerify(f *testing.F) {
	key := signingKey(1)
	want := verifiedReceipt(f, lethe.ScopeStubs)
	data, err := receipt.Sign(want, key)
	require.NoError(f, err)
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		got, v, err := receipt.Verify(data, trusted(key))
		if err == nil && v.Valid {
			require.Equal(t, want, got)
		}
	})
}
