package translog

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// The errors of signed checkpoints.
var (
	ErrNote      = errors.New("not a signed checkpoint of a log")
	ErrSignature = errors.New("the checkpoint is not signed by the key of this log")
	ErrOrigin    = errors.New("the checkpoint is of another log")
)

const (
	// maxNoteBytes allows 16 signatures of any kind.
	maxNoteBytes = 128 << 10
	// noteKeyEd25519 is the algorithm number of Ed25519.
	noteKeyEd25519 = 1
)

// Name is the log's name, the first line of its checkpoints and the key name in signatures.
func Name(deployment string) string { return "lethe.log/" + deployment }

// SignedTree is a checkpoint: size and root of the log of a name.
type SignedTree struct {
	Origin string
	tlog.Tree
	Note string
}

// Signer signs a log's checkpoints.
type Signer struct {
	origin string
	public ed25519.PublicKey
	key    note.Signer
}

// NewSigner returns the signer of a log, whose name has no white space and no plus sign.
func NewSigner(origin string, key ed25519.PrivateKey) (Signer, error) {
	if len(key) != ed25519.PrivateKeySize {
		return Signer{}, fmt.Errorf("signing key has %d bytes, want %d", len(key), ed25519.PrivateKeySize)
	}
	public := key.Public().(ed25519.PublicKey)
	verifier, err := verifierOf(origin, public)
	if err != nil {
		return Signer{}, err
	}
	seed := append([]byte{noteKeyEd25519}, key.Seed()...)
	signer, err := note.NewSigner(fmt.Sprintf("PRIVATE+KEY+%s+%08x+%s", origin, verifier.KeyHash(),
		base64.StdEncoding.EncodeToString(seed)))
	return Signer{origin, public, signer}, err
}

// Origin is the name of the log.
func (s Signer) Origin() string { return s.origin }

// Sign signs a checkpoint.
func (s Signer) Sign(tree tlog.Tree) (SignedTree, error) {
	text := fmt.Sprintf("%s\n%d\n%s\n", s.origin, tree.N, tree.Hash)
	signed, err := note.Sign(&note.Note{Text: text}, s.key)
	return SignedTree{Origin: s.origin, Tree: tree, Note: string(signed)}, err
}

// VerifierKey is the public key in the format of C2SP signed-note.
func VerifierKey(origin string, key ed25519.PublicKey) (string, error) {
	return note.NewEd25519VerifierKey(origin, key)
}

func verifierOf(origin string, key ed25519.PublicKey) (note.Verifier, error) {
	text, err := VerifierKey(origin, key)
	if err != nil {
		return nil, err
	}
	verifier, err := note.NewVerifier(text)
	if err != nil {
		return nil, fmt.Errorf("%q cannot be the name of a log: %w", origin, err)
	}
	return verifier, nil
}

// OpenCheckpoint reads a checkpoint signed by one of keys. origin is the log's name, or empty for any. Other
// signatures are ignored. Errors: ErrNote, ErrSignature, ErrOrigin.
func OpenCheckpoint(signed, origin string, keys ...ed25519.PublicKey) (SignedTree, error) {
	tree, err := ParseCheckpoint(signed)
	if err != nil {
		return SignedTree{}, err
	}
	var known []note.Verifier
	for _, key := range keys {
		verifier, err := verifierOf(tree.Origin, key)
		if err != nil {
			return SignedTree{}, fmt.Errorf("%w: %w", ErrNote, err)
		}
		known = append(known, verifier)
	}
	var unsigned *note.UnverifiedNoteError
	var forged *note.InvalidSignatureError
	_, err = note.Open([]byte(signed), note.VerifierList(known...))
	switch {
	case origin != "" && tree.Origin != origin:
		return SignedTree{}, fmt.Errorf("%w: of %s, not of %s", ErrOrigin, tree.Origin, origin)
	case errors.As(err, &unsigned), errors.As(err, &forged):
		return SignedTree{}, ErrSignature
	case err != nil:
		return SignedTree{}, fmt.Errorf("%w: %w", ErrNote, err)
	}
	return tree, nil
}

// ParseCheckpoint reads a checkpoint without checking signatures. More than three lines would be extensions, which
// lethe does not write. Errors: ErrNote.
func ParseCheckpoint(signed string) (SignedTree, error) {
	if len(signed) > maxNoteBytes {
		return SignedTree{}, fmt.Errorf("%w: %d bytes, at most %d", ErrNote, len(signed), maxNoteBytes)
	}
	text, _, found := strings.Cut(signed, "\n\n")
	lines := strings.Split(text, "\n")
	if !found || len(lines) != 3 {
		return SignedTree{}, fmt.Errorf("%w: %d lines before the signatures, want 3", ErrNote, len(lines))
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil || size < 0 || strconv.FormatInt(size, 10) != lines[1] {
		return SignedTree{}, fmt.Errorf("%w: the second line is no size", ErrNote)
	}
	root, err := tlog.ParseHash(lines[2])
	if err != nil || root.String() != lines[2] {
		return SignedTree{}, fmt.Errorf("%w: the third line is no hash", ErrNote)
	}
	return SignedTree{Origin: lines[0], Tree: tlog.Tree{N: size, Hash: root}, Note: signed}, nil
}
