package translog

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"lethe"
)

// The errors of proofs, beside those of checkpoints.
var (
	ErrNotIncluded  = errors.New("the leaf is not in the log of the checkpoint")
	ErrOtherReceipt = errors.New("the leaf is of another receipt")
)

// Proof shows that a leaf is in the log to anyone with the log's public key. Receipts and audit bundles carry it.
type Proof struct {
	Checkpoint string `json:"checkpoint"`
	Index      int64  `json:"index"`
	Leaf       string `json:"leaf"`
	// Hashes are the audit path (RFC 6962, 2.1.1), in base64.
	Hashes []tlog.Hash `json:"hashes"`
}

// CheckReceipt is Check of a receipt's proof. Errors also: ErrOtherReceipt.
func (p *Proof) CheckReceipt(payload []byte, origin string, keys ...ed25519.PublicKey) (SignedTree, error) {
	leaf, tree, err := p.Check(origin, keys...)
	if err != nil {
		return tree, err
	}
	if of, ok := leaf.(Receipt); !ok || of.Payload != lethe.Digest(sha256.Sum256(payload)) {
		return tree, fmt.Errorf("%w: leaf %d", ErrOtherReceipt, p.Index)
	}
	return tree, nil
}

// Check checks the checkpoint's signature and name (any, if empty) and the inclusion, and returns leaf and
// checkpoint. Errors: those of OpenCheckpoint, ErrNotIncluded, deletions.ErrFormat.
func (p *Proof) Check(origin string, keys ...ed25519.PublicKey) (Leaf, SignedTree, error) {
	tree, err := OpenCheckpoint(p.Checkpoint, origin, keys...)
	if err != nil {
		return nil, tree, err
	}
	if p.Index < 0 || p.Index >= tree.N {
		return nil, tree, fmt.Errorf("%w: leaf %d of %d", ErrNotIncluded, p.Index, tree.N)
	}
	hash := tlog.RecordHash([]byte(p.Leaf))
	if tlog.CheckRecord(p.Hashes, tree.N, tree.Hash, p.Index, hash) != nil {
		return nil, tree, fmt.Errorf("%w: leaf %d, size %d", ErrNotIncluded, p.Index, tree.N)
	}
	leaf, err := Decode([]byte(p.Leaf))
	return leaf, tree, err
}

// ErrProof means that the text is no proof.
var ErrProof = errors.New("not a proof of a transparency log")

const (
	proofHeader = "c2sp.org/tlog-proof@v1"
	// maxProofHashes bounds proofs: sizes have 63 bits.
	maxProofHashes = 63
)

// Text returns the proof as C2SP tlog-proof, with the leaf as extra data.
func (p *Proof) Text() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s\nextra %s\nindex %d\n", proofHeader, base64.StdEncoding.EncodeToString([]byte(p.Leaf)), p.Index)
	for _, h := range p.Hashes {
		fmt.Fprintf(&out, "%s\n", h)
	}
	fmt.Fprintf(&out, "\n%s", p.Checkpoint)
	return out.String()
}

// ParseProof parses the text of a proof, unchecked. Errors: ErrProof.
func ParseProof(text string) (Proof, error) {
	head, note, found := strings.Cut(text, "\n\n")
	lines := strings.Split(head, "\n")
	if !found || len(lines) < 3 || len(lines) > 3+maxProofHashes || lines[0] != proofHeader {
		return Proof{}, fmt.Errorf("%w: it does not begin as one", ErrProof)
	}
	extra, hasLeaf := strings.CutPrefix(lines[1], "extra ")
	leaf, err := base64.StdEncoding.Strict().DecodeString(extra)
	if !hasLeaf || err != nil {
		return Proof{}, fmt.Errorf("%w: the second line is not the leaf", ErrProof)
	}
	number, hasIndex := strings.CutPrefix(lines[2], "index ")
	index, err := strconv.ParseInt(number, 10, 64)
	if !hasIndex || err != nil || index < 0 || strconv.FormatInt(index, 10) != number {
		return Proof{}, fmt.Errorf("%w: the third line is no index", ErrProof)
	}
	p := Proof{Checkpoint: note, Index: index, Leaf: string(leaf), Hashes: []tlog.Hash{}}
	for i, line := range lines[3:] {
		h, err := tlog.ParseHash(line)
		if err != nil {
			return Proof{}, fmt.Errorf("%w: line %d is no hash", ErrProof, i+4)
		}
		p.Hashes = append(p.Hashes, h)
	}
	return p, nil
}
