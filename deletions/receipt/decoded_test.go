package receipt_test

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions/receipt"
	"lethe/deletions/scan"
	"lethe/internal/jws"
)

// A search finds in a receipt what stands there in base64, in a file and in a record.
func TestSearchesReadWhatReceiptsSay(t *testing.T) {
	r := verifiedReceipt(t, lethe.ScopeStubs)
	r.RequestID = "case-of-customer-4711"
	data := signed(t, r, signingKey(1))
	require.NotContains(t, string(data), "customer-4711")
	require.Contains(t, string(receipt.Decoded(data)), "customer-4711")

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

// What stands in a document that is no receipt of ours is seen as well: a broken or planted one.
func TestWhatBrokenReceiptsSayIsRead(t *testing.T) {
	const hidden = `{"request_id":"customer-4711"}`
	said := jws.Encode([]byte(hidden))
	for name, document := range map[string]string{
		"whole":             `{"payload":"` + said + `"}`,
		"white space":       "{ \"payload\"\t:\n \"" + said + `" }`,
		"a header":          `{"payload":"","signatures":[{"protected":"` + said + `"}]}`,
		"flattened":         `{"protected":"` + said + `"}`,
		"nested":            `{"inner":{"payload":"` + said + `"}}`,
		"doubled":           `{"payload":"` + said + `","payload":"e30"}`,
		"the second":        `{"payload":"e30","payload":"` + said + `"}`,
		"cut short":         `{"payload":"` + said,
		"something before":  `x" {"payload":"` + said + `"}`,
		"something after":   `{"payload":"` + said + `"} {"more":1}`,
		"two documents":     `{"payload":"e30"}{"payload":"` + said + `"}`,
		"escaped":           `{"p\u0061yload":"\u0065` + said[1:] + `"}`,
		"a quotation mark":  `{"a\\":"\"","payload":"` + said + `"}`,
		"padding":           `{"payload":"` + said + `=="}`,
		"one too many":      `{"payload":"` + said + `A"}`,
		"the other one":     `{"payload":"` + strings.NewReplacer("-", "+", "_", "/").Replace(said) + `"}`,
		"a line break":      `{"payload":"` + said[:5] + `\r\n` + said[5:] + `"}`,
		"another member":    `{"log":"` + said + `"}`,
		"no string":         `{"payload":["` + said + `"]}`,
		"then what is none": `{"payload":"` + said + `.` + said + `"}`,
	} {
		require.Contains(t, string(receipt.Decoded([]byte(document))), hidden, name)
	}
	require.Empty(t, strings.TrimSpace(string(receipt.Decoded(nil))))
}
