package translog

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"slices"
	"time"

	"lethe/deletions/internal/record"
)

// Introduction says that one key signs in the place of another, in the words of the one
// before: nobody else can say so.
type Introduction struct {
	// From and To are the public keys, 32 bytes each.
	From []byte `json:"from"`
	To   []byte `json:"to"`
	// Signature is From's, of the text that introduction returns.
	Signature []byte `json:"signature"`
}

// introduction is what the key before signs. No receipt and no checkpoint is such a text.
func introduction(origin string, at time.Time, from, to []byte) []byte {
	return fmt.Appendf(nil, "lethe key rotation/1\n%s\n%d\n%s\n%s\n", origin, at.UnixMilli(),
		base64.StdEncoding.EncodeToString(from), base64.StdEncoding.EncodeToString(to))
}

// introduce returns the leaf by which one key introduces another.
func introduce(origin string, at time.Time, from ed25519.PrivateKey, to ed25519.PublicKey) Operator {
	at, public := record.Time(at), from.Public().(ed25519.PublicKey)
	return Operator{Action: ActionRotateKey, At: at, Key: &Introduction{
		From: public, To: to, Signature: ed25519.Sign(from, introduction(origin, at, public, to)),
	}}
}

func (i *Introduction) check(p *record.Problems) {
	p.Check(len(i.From) == ed25519.PublicKeySize && len(i.To) == ed25519.PublicKeySize, "key has no two keys of 32 bytes")
	p.Check(len(i.Signature) == ed25519.SignatureSize, "key has no signature of 64 bytes")
	p.Check(!bytes.Equal(i.From, i.To), "a key introduces itself")
}

// Keys are the keys of a log, one after the other, as its leaves introduce them.
type Keys struct{ epochs []epoch }

// epoch begins with the size of the log from which on a key signs its checkpoints.
type epoch struct {
	size int64
	key  ed25519.PublicKey
}

// rotationMark is in the bytes of every leaf that introduces a key.
const rotationMark = `"action":"` + string(ActionRotateKey) + `"`

// KeysOf reads the keys of a log with a name. trusted is one that the caller knows: the first,
// the newest or one between. The error is a Refusal if a key is not introduced by the one
// before it, or the trusted one is not among them.
func KeysOf(origin string, leaves [][]byte, trusted ed25519.PublicKey) (Keys, error) {
	var k Keys
	for i, text := range leaves {
		if !bytes.Contains(text, []byte(rotationMark)) {
			continue
		}
		leaf, err := Decode(text)
		said, is := leaf.(Operator)
		if err != nil || !is || said.Key == nil {
			continue // StatementLeaf speaks of what cannot be read
		}
		one := said.Key
		if !ed25519.Verify(one.From, introduction(origin, said.At, one.From, one.To), one.Signature) {
			return k, refuse(StatementKey, "leaf %d introduces a key, and is not signed by the key before", i)
		}
		if k.epochs == nil {
			k.epochs = []epoch{{0, one.From}}
		}
		if !bytes.Equal(k.newest(), one.From) {
			return k, refuse(StatementKey, "leaf %d introduces a key in the place of another than the one before", i)
		}
		k.epochs = append(k.epochs, epoch{int64(i) + 1, one.To})
	}
	if k.epochs == nil {
		k.epochs = []epoch{{0, trusted}}
	}
	if !slices.ContainsFunc(k.epochs, func(e epoch) bool { return e.key.Equal(trusted) }) {
		return k, refuse(StatementKey, "the key that is trusted is none of the %d of this log", len(k.epochs))
	}
	return k, nil
}

// Epoch is a key of a log, and the size from which on it signs checkpoints.
type Epoch struct {
	From int64
	Key  ed25519.PublicKey
}

// Epochs are the keys, the one that signs now first.
func (k Keys) Epochs() []Epoch {
	out := make([]Epoch, 0, len(k.epochs))
	for _, e := range slices.Backward(k.epochs) {
		out = append(out, Epoch{e.size, e.key})
	}
	return out
}

// newest is the key that signs now.
func (k Keys) newest() ed25519.PublicKey { return k.epochs[len(k.epochs)-1].key }

// At is the key that signs the checkpoint of a size.
func (k Keys) At(size int64) ed25519.PublicKey {
	key := k.epochs[0].key
	for _, e := range k.epochs {
		if e.size <= size {
			key = e.key
		}
	}
	return key
}

// Open reads a checkpoint, which the key of its size must have signed. Errors: those of
// OpenCheckpoint.
func (k Keys) Open(signed, origin string) (SignedTree, error) {
	tree, err := ParseCheckpoint(signed)
	if err != nil {
		return SignedTree{}, err
	}
	return OpenCheckpoint(signed, origin, k.At(tree.N))
}
