package translog

import (
	"crypto/ed25519"
	"time"
)

// introducer is the key that signed before, and when it was replaced.
type introducer struct {
	key ed25519.PrivateKey
	at  time.Time
}

// Follow has the key that signed before introduce the signer's at Start, unless the log
// knows that already. Call it before any other method.
func (l *Log) Follow(before ed25519.PrivateKey, at time.Time) { l.before = &introducer{before, at} }

// trusted is the key by which a copy of the log is opened: the signer's, or the one before it
// if that has signed the copy's checkpoint.
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

// signs reports whether the signer goes on with the log: its key is the newest, or is about to
// be introduced by that.
func (l *Log) signs() bool {
	newest := l.keys.newest()
	return newest.Equal(l.signer.public) || l.before != nil && newest.Equal(l.before.key.Public())
}

// introduce adds the leaf by which the key before introduces the signer's, if it is due. The
// checkpoint of that write is the first that the new key signs.
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
