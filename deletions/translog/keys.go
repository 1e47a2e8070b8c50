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

// Introduction is a key's statement that another one signs in its place.
type Introduction struct {
	// From and To are public keys of 32 bytes.
	From []byte `json:"from"`
	To   []byte `json:"to"`
	// Signature is From's of introduction.
	Signature []byte `json:"signature"`
}

// introduction is the signed text, which no receipt or checkpoint equals.
func introduction(origin string, at time.Time, from, to []byte) []byte {
	return fmt.Appendf(nil, "lethe key rotation/1\n%s\n%d\n%s\n%s\n", origin, at.UnixMilli(),
		base64.StdEncoding.EncodeToString(from), base64.StdEncoding.EncodeToString(to))
}

// introduce returns the leaf that introduces a key.
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

// Keys are the successive keys of a log.
type Keys []Epoch

// Epoch is a key and the log's size from which it signs.
type Epoch struct {
	From int64
	Key  ed25519.PublicKey
}

// rotationMark is in every leaf that introduces a key.
const rotationMark = `"action":"` + string(ActionRotateKey) + `"`

// KeysOf reads the keys of a log. trusted is any one of them that the caller knows. The error is a Refusal.
func KeysOf(origin string, leaves [][]byte, trusted ed25519.PublicKey) (Keys, error) {
	var k Keys
	for i, text := range leaves {
		if !bytes.Contains(text, []byte(rotationMark)) {
			continue
		}
		leaf, err := Decode(text)
		operator, is := leaf.(Operator)
		if err != nil || !is || operator.Key == nil {
			continue // StatementLeaf covers unreadable leaves
		}
		one := operator.Key
		if !ed25519.Verify(one.From, introduction(origin, operator.At, one.From, one.To), one.Signature) {
			return k, refuse(StatementKey, "leaf %d introduces a key, and is not signed by the key before", i)
		}
		if k == nil {
			k = Keys{{0, one.From}}
		}
		if !bytes.Equal(k.newest(), one.From) {
			return k, refuse(StatementKey, "leaf %d introduces a key in the place of another than the one before", i)
		}
		k = append(k, Epoch{int64(i) + 1, one.To})
	}
	if k == nil {
		k = Keys{{0, trusted}}
	}
	if !slices.ContainsFunc(k, func(e Epoch) bool { return e.Key.Equal(trusted) }) {
		return k, refuse(StatementKey, "the key that is trusted is not one of the %d of this log", len(k))
	}
	return k, nil
}

func (k Keys) newest() ed25519.PublicKey { return k[len(k)-1].Key }

// At is the key for a size.
func (k Keys) At(size int64) ed25519.PublicKey {
	key := k[0].Key
	for _, e := range k {
		if e.From <= size {
			key = e.Key
		}
	}
	return key
}

// Open is OpenCheckpoint with the key for the checkpoint's size.
func (k Keys) Open(signed, origin string) (SignedTree, error) {
	tree, err := ParseCheckpoint(signed)
	if err != nil {
		return SignedTree{}, err
	}
	return OpenCheckpoint(signed, origin, k.At(tree.N))
}

// introducer is the previous key and when it was replaced.
type introducer struct {
	key ed25519.PrivateKey
	at  time.Time
}

// Follow makes Start introduce the signer's key by the previous one if needed. Call it first.
func (l *Log) Follow(before ed25519.PrivateKey, at time.Time) { l.before = &introducer{before, at} }

// trusted is the signer's key, or the previous one if that signed the copy.
func (l *Log) trusted(c Copy) ed25519.PublicKey {
	if l.before == nil {
		return l.signer.public
	}
	before := l.before.key.Public().(ed25519.PublicKey)
	if _, err := OpenCheckpoint(c.Checkpoint, l.signer.origin, before); err == nil {
		return before
	}
	return l.signer.public
}

// signs reports whether the newest key is the signer's or is about to introduce it.
func (l *Log) signs() bool {
	newest := l.keys.newest()
	return newest.Equal(l.signer.public) || l.before != nil && newest.Equal(l.before.key.Public())
}

// introduce adds the introduction if due. The new key signs its checkpoint.
func (l *Log) introduce() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.before == nil {
		return nil
	}
	if err := l.load(); err != nil {
		return err
	}
	if l.tree.Size() > 0 && l.keys.newest().Equal(l.signer.public) {
		return nil
	}
	leaf := introduce(l.signer.origin, l.before.at, l.before.key, l.signer.public)
	if err := l.write([]Leaf{leaf}, nil, l.kv.Put); err != nil {
		return err
	}
	l.loaded = false // the keys are read with the leaves
	return nil
}
