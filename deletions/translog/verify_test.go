package translog_test

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/tlog"

	"lethe/deletions"
	"lethe/deletions/translog"
)

// evidence is a log with everything by which it can be checked.
func evidence(t *testing.T) translog.Evidence {
	b, p := newBook(t, "ours"), &topic{}
	b.take(t, "r-1", "tx-1")
	b.carryOut(t, "r-1")
	older, err := b.log.Checkpoint()
	require.NoError(t, err)
	b.take(t, "r-2", "tx-2")
	b.carryOut(t, "r-2")
	e, err := b.ledger.Get("r-1")
	require.NoError(t, err)
	payload := []byte("what the receipt says")
	proofs, err := b.log.Issue(t.Context(), p, []translog.Receipt{{Request: e.Digest, Payload: sha256.Sum256(payload)}})
	require.NoError(t, err)
	text, err := translog.ParseProof(proofs[0].Text())
	require.NoError(t, err)
	require.Equal(t, proofs[0], text)
	stored, err := translog.ReadStored(b.kv)
	require.NoError(t, err)
	published := p.published(t)
	entries, err := b.ledger.List()
	require.NoError(t, err)
	return translog.Evidence{
		Origin: translog.Name("ours"), Key: publicOf("ours"), Stored: &stored, Published: &published, Ledger: entries,
		Older: older.Note, Receipts: []translog.IssuedReceipt{{Name: "r-1.json", Payload: payload, Proof: &text}},
	}
}

func TestAWholeLogIsVerified(t *testing.T) {
	e := evidence(t)
	r := translog.Verify(e)
	require.Empty(t, r.Refused)
	require.True(t, r.OK)
	require.EqualValues(t, 17, r.Size)
	require.EqualValues(t, 8, r.OlderSize)
	require.Equal(t, 2, r.Requests)
	e.Stored = nil
	require.True(t, translog.Verify(e).OK, "the topic alone")
	require.True(t, translog.Verify(translog.Evidence{Stored: &translog.Copy{}}).OK, "nothing has happened yet")
}

// sign signs what a forger with the key would: the deployment itself, which rewrites its history.
func sign(t *testing.T, c *translog.Copy, deployment string) {
	var tree translog.Tree
	require.NoError(t, tree.Append(c.Leaves...))
	now, err := tree.Now()
	require.NoError(t, err)
	signed, err := signerOf(t, deployment).Sign(now)
	require.NoError(t, err)
	c.Checkpoint = signed.Note
}

func TestWhatWasDroppedOrRewrittenIsRefused(t *testing.T) {
	theirs := newBook(t, "theirs")
	theirs.take(t, "r-1", "tx-1")
	other, err := theirs.log.Checkpoint()
	require.NoError(t, err)
	forger, err := translog.NewSigner(translog.Name("ours"), keyOf("theirs"))
	require.NoError(t, err)
	for name, c := range map[string]struct {
		change func(t *testing.T, e *translog.Evidence)
		want   translog.Statement
	}{
		"a dropped leaf": {func(_ *testing.T, e *translog.Evidence) {
			e.Stored.Leaves = append(e.Stored.Leaves[:2:2], e.Stored.Leaves[3:]...)
		}, translog.StatementTree},
		"an altered leaf": {func(_ *testing.T, e *translog.Evidence) {
			e.Stored.Leaves[2] = bytes.Replace(e.Stored.Leaves[2], []byte("suppressed"), []byte("rewriting"), 1)
		}, translog.StatementTree},
		"two leaves swapped": {func(_ *testing.T, e *translog.Evidence) {
			e.Stored.Leaves[3], e.Stored.Leaves[4] = e.Stored.Leaves[4], e.Stored.Leaves[3]
		}, translog.StatementTree},
		"a truncated log": {
			func(_ *testing.T, e *translog.Evidence) { e.Stored.Leaves = e.Stored.Leaves[:9] }, translog.StatementTree,
		},
		"a log cut off and signed anew": {func(t *testing.T, e *translog.Evidence) {
			e.Stored.Leaves, e.Receipts = e.Stored.Leaves[:5], nil
			sign(t, e.Stored, "ours")
		}, translog.StatementConsistency},
		"a leaf dropped and signed anew": {func(t *testing.T, e *translog.Evidence) {
			e.Stored.Leaves = append(e.Stored.Leaves[:2:2], e.Stored.Leaves[3:]...)
			sign(t, e.Stored, "ours")
		}, translog.StatementConsistency},
		"the same, read by its order": {func(t *testing.T, e *translog.Evidence) {
			e.Stored.Leaves = append(e.Stored.Leaves[:2:2], e.Stored.Leaves[3:]...)
			sign(t, e.Stored, "ours")
		}, translog.StatementOrder},
		"the same, read by its topic": {func(t *testing.T, e *translog.Evidence) {
			e.Stored.Leaves = append(e.Stored.Leaves[:2:2], e.Stored.Leaves[3:]...)
			sign(t, e.Stored, "ours")
		}, translog.StatementTopic},
		"a request of the log dropped from the ledger": {func(_ *testing.T, e *translog.Evidence) {
			e.Ledger = e.Ledger[1:]
		}, translog.StatementLedger},
		"a change dropped from the ledger": {func(_ *testing.T, e *translog.Evidence) {
			e.Ledger[0].History = e.Ledger[0].History[:5]
		}, translog.StatementLedger},
		"a receipt of a request that is not verified": {func(t *testing.T, e *translog.Evidence) {
			at := slices.IndexFunc(e.Stored.Leaves, func(leaf []byte) bool {
				return bytes.Contains(leaf, []byte(`"state":"verified"`))
			})
			e.Stored.Leaves = slices.Delete(slices.Clone(e.Stored.Leaves), at, at+1)
			sign(t, e.Stored, "ours")
			e.Older, e.Receipts, e.Published, e.Ledger[0].History = "", nil, nil, e.Ledger[0].History[:7]
		}, translog.StatementOrder},
		"a checkpoint of another deployment": {func(_ *testing.T, e *translog.Evidence) {
			e.Stored.Checkpoint = other.Note
		}, translog.StatementCheckpoint},
		"an older checkpoint of another deployment": {func(_ *testing.T, e *translog.Evidence) {
			e.Older = other.Note
		}, translog.StatementConsistency},
		"an older checkpoint of another history": {func(t *testing.T, e *translog.Evidence) {
			signed, err := signerOf(t, "ours").Sign(tlog.Tree{N: 8, Hash: tlog.RecordHash([]byte("other"))})
			require.NoError(t, err)
			e.Older = signed.Note
		}, translog.StatementConsistency},
		"a forged key": {func(t *testing.T, e *translog.Evidence) {
			signed, err := forger.Sign(tlog.Tree{N: 17, Hash: tlog.RecordHash(nil)})
			require.NoError(t, err)
			e.Stored.Checkpoint = signed.Note
		}, translog.StatementCheckpoint},
		"a leaf of another version": {func(t *testing.T, e *translog.Evidence) {
			e.Stored.Leaves[16] = bytes.Replace(e.Stored.Leaves[16], []byte("lethe-leaf/1"), []byte("lethe-leaf/9"), 1)
			sign(t, e.Stored, "ours")
		}, translog.StatementLeaf},
		"an altered receipt": {func(_ *testing.T, e *translog.Evidence) {
			e.Receipts[0].Payload = []byte("what the receipt did not say")
		}, translog.StatementReceipt},
		"a receipt's proof altered": {func(_ *testing.T, e *translog.Evidence) {
			e.Receipts[0].Proof.Hashes[0][7] ^= 1
		}, translog.StatementReceipt},
		"a receipt without a proof": {
			func(_ *testing.T, e *translog.Evidence) { e.Receipts[0].Proof = nil }, translog.StatementReceipt,
		},
		"a receipt with the proof of something else": {func(_ *testing.T, e *translog.Evidence) {
			p := e.Receipts[0].Proof
			p.Leaf = strings.Replace(p.Leaf, "receipt", "request", 1)
		}, translog.StatementReceipt},
		"a topic of another history": {func(_ *testing.T, e *translog.Evidence) {
			e.Published.Leaves[3] = e.Published.Leaves[4]
		}, translog.StatementTopic},
		"a topic that is behind": {func(_ *testing.T, e *translog.Evidence) {
			e.Published.Leaves = e.Published.Leaves[:9]
		}, translog.StatementTopic},
		"a topic with another checkpoint": {func(_ *testing.T, e *translog.Evidence) {
			e.Published.Checkpoint = e.Older
		}, translog.StatementTopic},
	} {
		t.Run(name, func(t *testing.T) {
			e := evidence(t)
			c.change(t, &e)
			r := translog.Verify(e)
			require.False(t, r.OK)
			var named []translog.Statement
			for _, refusal := range r.Refused {
				named = append(named, refusal.Statement)
			}
			require.Contains(t, named, c.want)
		})
	}
}

func TestWhatIsNoProofIsRefused(t *testing.T) {
	good := evidence(t).Receipts[0].Proof.Text()
	for _, text := range []string{
		"", "c2sp.org/tlog-proof@v2" + good[len("c2sp.org/tlog-proof@v1"):], strings.Replace(good, "extra ", "extra !", 1),
		strings.Replace(good, "index ", "index 0", 1), strings.Replace(good, "index ", "at ", 1),
		strings.Replace(good, "\n\n", "\nAAAA\n\n", 1),
		strings.Replace(good, "\n\n", strings.Repeat("\n"+tlog.Hash{}.String(), 99)+"\n\n", 1),
	} {
		_, err := translog.ParseProof(text)
		require.ErrorIs(t, err, translog.ErrProof)
	}
	var _ deletions.Journal = (*translog.Log)(nil)
}
