package receipts

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lethe/configs"
	"lethe/deletions/translog"
	"lethe/integration/process"
)

// The commands of docs/receipts.md need no program of ours, and tell what was altered.
func TestAReceiptIsCheckedByHand(t *testing.T) {
	for _, name := range []string{"bash", "jq", "openssl", "basenc"} {
		tool(t, name)
	}
	s := newStage(t)
	byHand := func(receipt, key string) (string, error) {
		out, err := exec.Command("bash", "testdata/by-hand.sh", receipt, key).CombinedOutput()
		return string(out), err
	}
	said, err := byHand(s.good, s.pinned)
	require.NoError(t, err, said)
	require.Equal(t, "Signature Verified Successfully\nthe leaf is of this receipt\n"+
		"the checkpoints before are the ensemble's\nthe checkpoints after are the ensemble's\n", said)
	said, err = byHand(s.good, s.other.public)
	require.Error(t, err, said)
	another := s.with("another-leaf-by-hand", func(d *statement) {
		lines := strings.SplitN(d.Log, "\n", 3)
		leaf := base64.StdEncoding.EncodeToString([]byte(`{"body":{"payload_digest":"00"}}`))
		d.Log = strings.Join([]string{lines[0], "extra " + leaf, lines[2]}, "\n")
	})
	said, err = byHand(another, s.pinned)
	require.Error(t, err)
	require.Contains(t, said, "not so: the leaf is of this receipt")
	for receipt := range s.hostile {
		said, err = byHand(receipt, s.pinned)
		require.Error(t, err, "%s: %s", receipt, said)
	}
}

// Python's standard library checks the proof in a receipt and the tree of the whole log.
func TestALogIsCheckedByHand(t *testing.T) {
	python3 := tool(t, "python3")
	s := newStage(t)
	show := process.Run(t, s.bin, "log", "show", "--data-dir", filepath.Dir(filepath.Dir(s.good)), "--json")
	require.Zero(t, show.Code, show.Stderr)
	byHand := func(receipt, log string) (string, error) {
		file := filepath.Join(s.folder, "log.json")
		require.NoError(t, os.WriteFile(file, []byte(log), 0o600))
		const scripts = "../translog/testdata/"
		question, err := exec.Command(python3, scripts+"question.py", receipt, file, s.pinned).Output()
		require.NoError(t, err)
		check := exec.Command(python3, scripts+"check.py")
		check.Stdin = bytes.NewReader(question)
		said, err := check.Output()
		return strings.TrimSpace(string(said)), err
	}
	said, err := byHand(s.good, show.Stdout)
	require.NoError(t, err, said)
	require.Equal(t, "ok", said)
	said, err = byHand(s.good, strings.Replace(show.Stdout, `"state": "erased"`, `"state": "failed"`, 1))
	require.Error(t, err)
	require.Equal(t, "tree", said)
	var log struct {
		Leaves     []json.RawMessage `json:"leaves"`
		Checkpoint string            `json:"checkpoint"`
	}
	require.NoError(t, json.Unmarshal([]byte(show.Stdout), &log))
	whole := log.Leaves
	log.Leaves = slices.Delete(slices.Clone(whole), 3, 4)
	said, err = byHand(s.good, text(t, log))
	require.Error(t, err)
	require.Equal(t, "tree", said, "a dropped leaf")
	// Whoever has the key can sign another history, but the receipt is of this one.
	log.Leaves, log.Checkpoint = s.forked(whole, log.Checkpoint)
	said, err = byHand(s.good, text(t, log))
	require.Error(t, err)
	require.Equal(t, "consistency", said)
	another := s.with("another-payload-by-hand", func(d *statement) {
		d.Payload = replaced(t, d.Payload, s.deployment(), strings.Repeat("5", 32))
	})
	said, err = byHand(another, show.Stdout)
	require.Error(t, err)
	require.Equal(t, "receipt", said)
	another = s.with("another-deployment-by-hand", func(d *statement) {
		d.Log = strings.ReplaceAll(d.Log, s.deployment(), strings.Repeat("5", 32))
	})
	said, err = byHand(another, show.Stdout)
	require.Error(t, err)
	require.Equal(t, "origin", said)
	another = s.with("another-index-by-hand", func(d *statement) {
		d.Log = strings.Replace(d.Log, "index ", "index 1", 1)
	})
	said, err = byHand(another, show.Stdout)
	require.Error(t, err)
	require.Equal(t, "inclusion", said)
}

// text is a document as text.
func text(t *testing.T, document any) string {
	t.Helper()
	out, err := json.Marshal(document)
	require.NoError(t, err)
	return string(out)
}

// forked is another history of the log, signed by the deployment's key.
func (s *stage) forked(leaves []json.RawMessage, checkpoint string) (forked []json.RawMessage, signed string) {
	s.t.Helper()
	forked = slices.Clone(leaves)
	forked[2], forked[3] = forked[3], forked[2]
	var tree translog.Tree
	for i, leaf := range forked {
		var compact bytes.Buffer
		require.NoError(s.t, json.Compact(&compact, leaf))
		forked[i] = compact.Bytes()
		require.NoError(s.t, tree.Append(forked[i]))
	}
	now, err := tree.Now()
	require.NoError(s.t, err)
	key, err := configs.ReadSigningKey(strings.Replace(s.pinned, ".pub.pem", ".pem", 1))
	require.NoError(s.t, err)
	origin, _, _ := strings.Cut(checkpoint, "\n")
	signer, err := translog.NewSigner(origin, key)
	require.NoError(s.t, err)
	note, err := signer.Sign(now)
	require.NoError(s.t, err)
	return forked, note.Note
}
