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

// The reasons for which a signed checkpoint is refused.
var (
	ErrNote      = errors.New("not a signed checkpoint of a log")
	ErrSignature = errors.New("the checkpoint is not signed by the key of this log")
	ErrOrigin    = errors.New("the checkpoint is of another log")
)

const (
	// maxNoteBytes bounds a note: room for 16 signatures of any kind.
	maxNoteBytes = 128 << 10
	// noteKeyEd25519 is the note format's number of Ed25519 keys.
	noteKeyEd25519 = 1
)

// Name is the name of a log: the first line of its checkpoints and the name of the key in
// their signatures. deployment names the deployment.
func Name(deployment string) string { return "lethe.log/" + deployment }

// SignedTree is what a checkpoint states: that the log of a name has a size and a root.
type SignedTree struct {
	// Origin is the log's name.
	Origin string
	tlog.Tree
	// Note is the signed note.
	Note string
}

// Signer signs the checkpoints of one log.
type Signer struct {
	origin string
	public ed25519.PublicKey
	key    note.Signer
}

// NewSigner returns what signs the checkpoints of the log with a name, which must hold no
// white space and no plus sign.
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

// Sign signs a tree.
func (s Signer) Sign(tree tlog.Tree) (SignedTree, error) {
	text := fmt.Sprintf("%s\n%d\n%s\n", s.origin, tree.N, tree.Hash)
	signed, err := note.Sign(&note.Note{Text: text}, s.key)
	return SignedTree{Origin: s.origin, Tree: tree, Note: string(signed)}, err
}

// VerifierKey is the public key as other programs for notes take it (C2SP signed-note,
// "Verifier keys").
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

// OpenCheckpoint reads a signed checkpoint. One of keys must have signed it; origin is the
// name of the log that it must be of, or empty for any. Signatures of others, such as
// witnesses, are not looked at. Errors: ErrNote, ErrSignature, ErrOrigin.
func OpenCheckpoint(signed, origin string, keys ...ed25519.PublicKey) (SignedTree, error) {
	if len(signed) > maxNoteBytes {
		return SignedTree{}, fmt.Errorf("%w: %d bytes, at most %d", ErrNote, len(signed), maxNoteBytes)
	}
	tree, err := parseTree(signed)
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

// ParseCheckpoint reads what a signed checkpoint states, whoever signed it. The error is
// ErrNote.
func ParseCheckpoint(signed string) (SignedTree, error) {
	if len(signed) > maxNoteBytes {
		return SignedTree{}, fmt.Errorf("%w: %d bytes, at most %d", ErrNote, len(signed), maxNoteBytes)
	}
	return parseTree(signed)
}

// parseTree reads what a note states, whoever signed it. Lines after the third are
// extensions, which lethe does not write.
func parseTree(signed string) (SignedTree, error) {
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
