package api_test

import (
	"crypto/ed25519"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe"
	"lethe/deletions/receipt"
	"lethe/deletions/translog"
	"lethe/ingest/bus"
	"lethe/service/api"
)

// A proof that the API gives convinces whoever has the log's key.
func TestTheLogIsProven(t *testing.T) {
	s := newSite(t)
	require.Equal(t, http.StatusNotFound, s.ask(http.MethodGet, "/log", nil).status)
	require.Equal(t, http.StatusNotFound, s.ask(http.MethodGet, "/log/leaves/0/proof", nil).status)
	require.Equal(t, http.StatusNotFound, s.ask(http.MethodGet, "/erasures/r-1/receipt", nil).status)
	s.write(bus.Receipts, "r-1", []byte(`{"payload":"e30","signatures":[]}`))
	require.Equal(t, http.StatusOK, s.ask(http.MethodGet, "/erasures/r-1/receipt", nil).status)

	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	signer, err := translog.NewSigner(translog.Name("test"), key)
	require.NoError(t, err)
	tree := new(translog.Tree)
	for i := range 5 {
		leaf, err := translog.Encode(translog.Setup{Digest: lethe.Digest{byte(i + 1)}})
		require.NoError(t, err)
		require.NoError(t, tree.Append(leaf))
		s.write(bus.Log, fmt.Sprintf("%016d", i), leaf)
	}
	now, err := tree.Now()
	require.NoError(t, err)
	signed, err := signer.Sign(now)
	require.NoError(t, err)
	s.write(bus.Log, "checkpoint", []byte(signed.Note))
	s.keys = []ed25519.PublicKey{key.Public().(ed25519.PublicKey)}
	var keys api.KeysAnswer
	s.get("/log/keys", &keys)
	first := api.PublicKey{ID: receipt.KeyID(s.keys[0]), Key: "O2onvM62pC1io6jQKm8Nc2UyFXcd4kOmOsBIoYtZ2ik"}
	require.Equal(t, []api.PublicKey{first}, keys.Keys)
	var log api.LogAnswer
	s.get("/log", &log)
	require.EqualValues(t, 5, log.Size)
	var page api.LeafPage
	s.get("/log/leaves?limit=3", &page)
	require.Len(t, page.Items, 3)
	s.get("/log/leaves?limit=3&cursor="+*page.NextCursor, &page)
	require.Len(t, page.Items, 2)
	require.EqualValues(t, 4, page.Items[1].Index)
	require.Nil(t, page.NextCursor)
	for i := range 5 {
		var proof translog.Proof
		s.get(fmt.Sprintf("/log/leaves/%d/proof", i), &proof)
		_, _, err := proof.Check(translog.Name("test"), key.Public().(ed25519.PublicKey))
		require.NoError(t, err)
	}
	require.Equal(t, http.StatusNotFound, s.ask(http.MethodGet, "/log/leaves/5/proof", nil).status)
	require.Equal(t, http.StatusBadRequest, s.ask(http.MethodGet, "/log/leaves?cursor=AAAA", nil).status)
}
