// Package translog checks what lethe's transparency log hands out by a program in another
// language, testdata/check.py, which shares nothing with it.
package translog

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/tlog"

	"lethe"
	"lethe/deletions/translog"
)

// question is what check.py reads.
type question struct {
	VKey        string        `json:"vkey"`
	Proofs      []string      `json:"proofs"`
	Consistency []consistency `json:"consistency"`
	Leaves      []string      `json:"leaves"`
	Checkpoint  string        `json:"checkpoint"`
}

type consistency struct {
	Older  string      `json:"older"`
	Newer  string      `json:"newer"`
	Hashes []tlog.Hash `json:"hashes"`
}

// ask returns what check.py prints, and whether it is content.
func ask(t *testing.T, q question) (said string, ok bool) {
	t.Helper()
	text, err := json.Marshal(q)
	require.NoError(t, err)
	python := exec.Command("python3", "testdata/check.py")
	python.Stdin = bytes.NewReader(text)
	out, err := python.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		require.Empty(t, string(exit.Stderr))
	} else {
		require.NoError(t, err)
	}
	return strings.TrimSpace(string(out)), err == nil
}

// needPython skips the test where there is none, unless all interpreters are required.
func needPython(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		require.NotEqual(t, "required", os.Getenv("INTEROP"), "python3 is missing")
		t.Skip("python3 is not on the PATH: the transparency log is not checked in another language")
	}
}

// history is a log as it grew, leaf by leaf.
type history struct {
	tree    translog.Tree
	signer  translog.Signer
	leaves  []string
	signed  []translog.SignedTree
	private ed25519.PrivateKey
}

func grow(t *testing.T, deployment string, size int) *history {
	h := &history{private: ed25519.NewKeyFromSeed(append([]byte(deployment), make([]byte, 32-len(deployment))...))}
	var err error
	h.signer, err = translog.NewSigner(translog.Name(deployment), h.private)
	require.NoError(t, err)
	for i := range size {
		leaf, err := translog.Encode(translog.Operator{
			Action: translog.ActionHold, At: time.UnixMilli(int64(i)).UTC(), Detail: lethe.Digest{byte(i)},
		})
		require.NoError(t, err)
		require.NoError(t, h.tree.Append(leaf))
		now, err := h.tree.Now()
		require.NoError(t, err)
		signed, err := h.signer.Sign(now)
		require.NoError(t, err)
		h.leaves, h.signed = append(h.leaves, string(leaf)), append(h.signed, signed)
	}
	return h
}

// question asks about proofs in the tree of every size, and between sizes.
func (h *history) question(t *testing.T) (q question) {
	var err error
	q.VKey, err = translog.VerifierKey(h.signer.Origin(), h.private.Public().(ed25519.PublicKey))
	require.NoError(t, err)
	newest := h.signed[len(h.signed)-1]
	for i, signed := range h.signed {
		index := int64(i*7) % signed.N
		hashes, err := tlog.ProveRecord(signed.N, index, &h.tree)
		require.NoError(t, err)
		proof := translog.Proof{Checkpoint: signed.Note, Index: index, Leaf: h.leaves[index], Hashes: hashes}
		q.Proofs = append(q.Proofs, proof.Text())
		between, err := tlog.ProveTree(newest.N, signed.N, &h.tree)
		require.NoError(t, err)
		q.Consistency = append(q.Consistency, consistency{signed.Note, newest.Note, between})
	}
	q.Leaves, q.Checkpoint = h.leaves, newest.Note
	return q
}

func TestAnotherProgramChecksTheLog(t *testing.T) {
	needPython(t)
	const size = 21
	ours, theirs := grow(t, "ours", size), grow(t, "theirs", size)
	good := ours.question(t)
	said, ok := ask(t, good)
	require.True(t, ok, said)

	last := len(good.Proofs) - 1
	swapped := append([]string{}, good.Leaves...)
	swapped[1], swapped[2] = swapped[2], swapped[1]
	for name, c := range map[string]struct {
		change func(q *question)
		want   string
	}{
		"a dropped leaf":  {func(q *question) { q.Leaves = q.Leaves[1:] }, "tree"},
		"the end dropped": {func(q *question) { q.Leaves = q.Leaves[:size-1] }, "tree"},
		"leaves swapped":  {func(q *question) { q.Leaves = swapped }, "tree"},
		"an altered leaf of a proof": {func(q *question) {
			leaf := base64.StdEncoding.EncodeToString([]byte(good.Leaves[0]))
			q.Proofs = []string{strings.Replace(good.Proofs[0], leaf, leaf[:len(leaf)-4]+"AAAA", 1)}
		}, "inclusion"},
		"another index": {func(q *question) {
			before := fmt.Sprintf("index %d\n", last*7%size)
			q.Proofs = []string{strings.Replace(good.Proofs[last], before, "index 1\n", 1)}
		}, "inclusion"},
		"another log's history": {func(q *question) { q.Consistency[3].Hashes = q.Consistency[4].Hashes }, "consistency"},
		"another deployment":    {func(q *question) { q.Checkpoint = theirs.signed[last].Note }, "origin"},
		"a forged size": {
			func(q *question) { q.Checkpoint = strings.Replace(q.Checkpoint, "\n21\n", "\n22\n", 1) }, "signature",
		},
		"a key of somebody else": {func(q *question) {
			q.VKey = strings.Replace(theirs.question(t).VKey, "theirs", "ours", 1)
		}, "verifier key"},
	} {
		q := good
		q.Consistency = append([]consistency{}, good.Consistency...)
		c.change(&q)
		said, ok := ask(t, q)
		require.False(t, ok, name)
		require.Equal(t, c.want, said, name)
	}
}
