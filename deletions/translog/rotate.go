package translog

import (
	"crypto/ed25519"
	"time"
)

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
