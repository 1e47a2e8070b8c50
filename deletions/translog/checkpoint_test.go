package translog_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"lethe/deletions"
	"lethe/deletions/translog"
)

func TestACheckpointIsANote(t *testing.T) {
	tree := tlog.Tree{N: 20852163, Hash: tlog.RecordHash([]byte("leaf"))}
	signed, err := signerOf(t, "ours").Sign(tree)
	require.NoError(t, err)
	begins := fmt.Sprintf("lethe.log/ours\n20852163\n%s\n\n— lethe.log/ours ", tree.Hash)
	require.True(t, strings.HasPrefix(signed.Note, begins))

	// Other programs for notes take it under the verifier key.
	key, err := translog.VerifierKey("lethe.log/ours", publicOf("ours"))
	require.NoError(t, err)
	verifier, err := note.NewVerifier(key)
	require.NoError(t, err)
	_, err = note.Open([]byte(signed.Note), note.VerifierList(verifier))
	require.NoError(t, err)

	again, err := translog.OpenCheckpoint(signed.Note, "lethe.log/ours", publicOf("ours"))
	require.NoError(t, err)
	require.Equal(t, signed, again)
}

func TestAWitnessMaySignToo(t *testing.T) {
	signed, err := signerOf(t, "ours").Sign(tlog.Tree{N: 1, Hash: tlog.RecordHash([]byte("leaf"))})
	require.NoError(t, err)
	text, _, _ := strings.Cut(signed.Note, "\n\n")
	other, err := note.Sign(&note.Note{Text: text + "\n"}, witness{"witness.example"})
	require.NoError(t, err)
	_, theirs, _ := strings.Cut(string(other), "\n\n")
	_, err = translog.OpenCheckpoint(signed.Note+theirs, "", publicOf("ours"))
	require.NoError(t, err)
}

// witness signs in a way that nobody here knows.
type witness struct{ name string }

func (w witness) Name() string                { return w.name }
func (w witness) KeyHash() uint32             { return 17 }
func (w witness) Sign([]byte) ([]byte, error) { return []byte("signed"), nil }

func TestWhatIsNoCheckpointOfOursIsRefused(t *testing.T) {
	tree := tlog.Tree{N: 12, Hash: tlog.RecordHash([]byte("leaf"))}
	signed, err := signerOf(t, "ours").Sign(tree)
	require.NoError(t, err)
	theirs, err := signerOf(t, "theirs").Sign(tree)
	require.NoError(t, err)
	forger, err := translog.NewSigner("lethe.log/ours", keyOf("theirs"))
	require.NoError(t, err)
	forged, err := forger.Sign(tree)
	require.NoError(t, err)
	text, signature, _ := strings.Cut(signed.Note, "\n\n")
	for name, c := range map[string]struct {
		note string
		want error
	}{
		"another deployment": {theirs.Note, translog.ErrOrigin},
		"another key":        {forged.Note, translog.ErrSignature},
		"another size":       {strings.Replace(signed.Note, "\n12\n", "\n13\n", 1), translog.ErrSignature},
		"another root": {
			strings.Replace(signed.Note, tree.Hash.String(), tlog.Hash{}.String(), 1), translog.ErrSignature,
		},
		"a signature of another": {
			text + "\n\n" + strings.Replace(signature, "lethe.log/ours", "lethe.log/x", 1), translog.ErrSignature,
		},
		"no signature":    {text + "\n\n", translog.ErrNote},
		"an extension":    {text + "\nmore\n\n" + signature, translog.ErrNote},
		"a padded size":   {strings.Replace(signed.Note, "\n12\n", "\n012\n", 1), translog.ErrNote},
		"a negative size": {strings.Replace(signed.Note, "\n12\n", "\n-12\n", 1), translog.ErrNote},
		"nothing":         {"", translog.ErrNote},
		"too much":        {signed.Note + strings.Repeat("x", 1<<20), translog.ErrNote},
	} {
		_, err := translog.OpenCheckpoint(c.note, "lethe.log/ours", publicOf("ours"))
		require.ErrorIs(t, err, c.want, name)
	}
}

func TestNamesOfLogsAreNamesOfKeys(t *testing.T) {
	for _, name := range []string{"", "a b", "a+b", "a\nb"} {
		_, err := translog.NewSigner(name, keyOf("ours"))
		require.Error(t, err, "%q", name)
	}
}

func TestEveryLeafIsProved(t *testing.T) {
	b := newBook(t, "ours")
	for i := range 9 {
		_, err := b.log.Append(translog.Receipt{Request: digestOf("r%d", i), Payload: digestOf("p%d", i)})
		require.NoError(t, err)
	}
	proofs, err := b.log.Prove(0, 1, 2, 3, 4, 5, 6, 7, 8)
	require.NoError(t, err)
	for i, p := range proofs {
		leaf, tree, err := p.Check("lethe.log/ours", publicOf("ours"))
		require.NoError(t, err)
		require.Equal(t, digestOf("p%d", i), leaf.(translog.Receipt).Payload)
		require.EqualValues(t, 9, tree.N)

		other := proofs[(i+1)%len(proofs)]
		for name, forged := range map[string]translog.Proof{
			"index":  {Checkpoint: p.Checkpoint, Index: other.Index, Leaf: p.Leaf, Hashes: p.Hashes},
			"behind": {Checkpoint: p.Checkpoint, Index: 9, Leaf: p.Leaf, Hashes: p.Hashes},
			"leaf":   {Checkpoint: p.Checkpoint, Index: p.Index, Leaf: other.Leaf, Hashes: p.Hashes},
			"hashes": {Checkpoint: p.Checkpoint, Index: p.Index, Leaf: p.Leaf, Hashes: p.Hashes[1:]},
		} {
			_, _, err := forged.Check("lethe.log/ours", publicOf("ours"))
			require.ErrorIs(t, err, translog.ErrNotIncluded, "%s of %d", name, i)
		}
	}
	_, _, err = proofs[0].Check("lethe.log/theirs", publicOf("ours"))
	require.ErrorIs(t, err, translog.ErrOrigin)
	_, err = b.log.Prove(9)
	require.Error(t, err)
}

func TestAProofOfWhatIsNoLeafIsRefused(t *testing.T) {
	var tree translog.Tree
	require.NoError(t, tree.Append([]byte("rubbish")))
	now, err := tree.Now()
	require.NoError(t, err)
	signed, err := signerOf(t, "ours").Sign(now)
	require.NoError(t, err)
	proof := translog.Proof{Checkpoint: signed.Note, Leaf: "rubbish"}
	_, _, err = proof.Check("", publicOf("ours"))
	require.ErrorIs(t, err, deletions.ErrFormat)
}

func TestATreeGrows(t *testing.T) {
	var tree translog.Tree
	var older []tlog.Tree
	for i := range 20 {
		require.NoError(t, tree.Append([]byte{byte(i)}))
		now, err := tree.Now()
		require.NoError(t, err)
		for _, o := range append(older, now) {
			was, err := tree.At(o.N)
			require.NoError(t, err)
			require.Equal(t, o, was)
		}
		older = append(older, now)
	}
	_, err := tree.At(21)
	require.Error(t, err)
}
