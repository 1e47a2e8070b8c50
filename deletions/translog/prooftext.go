package translog

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/tlog"
)

// ErrProof: the text is no proof.
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

// ParseProof reads what Text wrote, unchecked. Errors: ErrProof.
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
