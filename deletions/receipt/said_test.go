package receipt_test

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions/receipt"
	"lethe/deletions/scan"
)

// A search finds in a receipt what stands there in base64, in a file and in a record.
func TestSearchesReadWhatReceiptsSay(t *testing.T) {
	r := verifiedReceipt(t, lethe.ScopeStubs)
	r.RequestID = "case-of-customer-4711"
	data := signed(t, r, signingKey(1))
	require.NotContains(t, string(data), "customer-4711")
	require.Contains(t, string(receipt.Said(data)), "customer-4711")
	require.Empty(t, receipt.Said([]byte(`{"format":"lethe-receipt/3"}`)))

	secret := lethe.Secret{1}
	prints, err := scan.TransactionFingerprints(secret, "customer-4711")
	require.NoError(t, err)
	scanner, err := scan.NewScanner(secret, prints)
	require.NoError(t, err)
	files := fstest.MapFS{"receipts/a.json": {Data: data}, "receipts/b.json": {Data: []byte("customer-4711")},
		"other": {Data: []byte("customer-4711")}, "receipts/c.json": {}, "d.json/e": {Data: []byte("nothing")}}
	plain, err := scanner.ScanDir(t.Context(), files)
	require.NoError(t, err)
	require.Len(t, plain.Hits, 2)
	report, err := scanner.ScanDir(t.Context(), receipt.Readable(files))
	require.NoError(t, err)
	require.Len(t, report.Hits, 3)
	require.Equal(t, plain.Files, report.Files)
	_, err = fs.ReadDir(receipt.Readable(files), "receipts")
	require.NoError(t, err)
	_, err = receipt.Readable(files).Open("nowhere.json")
	require.ErrorIs(t, err, fs.ErrNotExist)
}
