// Package suppressed stores the erased targets in staging: keyed hashes of transactions, payments and subjects, whose
// records are dropped, and of features, which become 0 in accepted records.
package suppressed

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/snapshot/stored"
)

// Kinds of keys.
const (
	// Kind is followed by a keyed hash; for a subject the value is the last timestep of the erasure.
	Kind = 's'
	// KindRedacted is followed by a keyed hash; the value is the columns of the features.
	KindRedacted = 'z'
)

// Store holds the list.
type Store interface {
	// Apply durably stores the keys that fn sets.
	Apply(fn func(w swapstore.Writer) error) error
	// Outdate makes open batches stale: a batch must not outlive an erasure.
	Outdate()
}

// List is the list of erased targets. One goroutine owns it, except for Redacts.
type List struct {
	store    Store
	secret   lethe.Secret
	all      lethe.Suppressions
	features lethe.Redactions
	redacts  atomic.Bool
}

// New returns an empty list, to be loaded by Mirror.
func New(store Store, secret lethe.Secret) *List { return &List{store: store, secret: secret} }

// Key is the key of a suppressed hash.
func Key(d lethe.Digest) []byte { return append([]byte{Kind}, d[:]...) }

func redactedKey(d lethe.Digest) []byte { return append([]byte{KindRedacted}, d[:]...) }

// Mirror loads a stored entry. Error: stored.ErrCorrupt.
func (l *List) Mirror(key, value []byte) error {
	k, c := stored.Over(key[1:]), stored.Over(value)
	var d lethe.Digest
	k.Bytes(d[:])
	switch {
	case key[0] == KindRedacted:
		var columns lethe.Columns
		for range c.Left() / 4 {
			columns = append(columns, int(c.Uint32()))
		}
		l.features.Add(lethe.Redaction{Target: d, Columns: columns})
		l.redacts.Store(true)
	case len(value) > 0:
		l.all.Add(nil, lethe.SubjectUntil{Target: d, Until: lethe.Timestep(c.Uint64())})
	default:
		l.all.Add([]lethe.Digest{d})
	}
	return errors.Join(k.Done("key"), c.Done("suppression"))
}

// Add suppresses the targets by keyed hash: from now on records that name one are dropped, and
// erased features are 0 in accepted records. It is durable when it returns. Only Lift undoes it.
// Errors: lethe.ErrTarget, those of the store.
func (l *List) Add(targets []lethe.Target) error {
	if err := lethe.CheckTargets(targets); err != nil {
		return err
	}
	hashes, subjects, redactions := Of(l.secret, targets)
	if err := l.Redact(redactions); err != nil {
		return err
	}
	return l.AddHashes(hashes, subjects...)
}

// Of returns the keyed hashes of targets: of subjects with the last timestep, of features with the columns as well.
func Of(
	secret lethe.Secret, targets []lethe.Target,
) (hashes []lethe.Digest, subjects []lethe.SubjectUntil, redactions []lethe.Redaction) {
	for _, t := range targets {
		hash := secret.Suppressed(t)
		switch t.Kind {
		case lethe.SubjectTarget:
			subjects = append(subjects, lethe.SubjectUntil{Target: hash, Until: t.Until})
			continue
		case lethe.FeaturesTarget:
			redactions = append(redactions, lethe.Redaction{Target: hash, Columns: t.Columns})
		default:
		}
		hashes = append(hashes, hash)
	}
	return hashes, subjects, redactions
}

// AddHashes is Add for keyed hashes (lethe.Secret.Suppressed). Subjects come with the last
// timestep of their erasure; known hashes are skipped.
func (l *List) AddHashes(hashes []lethe.Digest, subjects ...lethe.SubjectUntil) error {
	hashes, subjects = l.all.Lacking(hashes, subjects)
	if len(hashes)+len(subjects) == 0 {
		l.store.Outdate()
		return nil
	}
	err := l.store.Apply(func(w swapstore.Writer) error {
		for _, hash := range hashes {
			w.Set(Key(hash), nil)
		}
		setSubjects(w, subjects)
		return nil
	})
	if err != nil {
		return fmt.Errorf("suppress %d targets: %w", len(hashes)+len(subjects), err)
	}
	l.all.Add(hashes, subjects...)
	return nil
}

func setSubjects(w swapstore.Writer, subjects []lethe.SubjectUntil) {
	for _, subject := range subjects {
		w.Set(Key(subject.Target), binary.BigEndian.AppendUint64(nil, uint64(subject.Until)))
	}
}

// Lacking returns the hashes and subjects that AddHashes would change.
func (l *List) Lacking(hashes []lethe.Digest, subjects []lethe.SubjectUntil) ([]lethe.Digest, []lethe.SubjectUntil) {
	return l.all.Lacking(hashes, subjects)
}

// Redact suppresses features by keyed hash: from now on they are 0 in every accepted transaction.
// It is durable when it returns. Only Lift undoes it.
func (l *List) Redact(list []lethe.Redaction) error {
	fresh := list[:0:0]
	for _, one := range list {
		if !l.features.Has(one.Target) {
			fresh = append(fresh, one)
		}
	}
	if len(fresh) == 0 {
		l.store.Outdate()
		return nil
	}
	err := l.store.Apply(func(w swapstore.Writer) error {
		for _, one := range fresh {
			value := []byte{}
			for _, column := range one.Columns {
				value = binary.BigEndian.AppendUint32(value, uint32(column))
			}
			w.Set(redactedKey(one.Target), value)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("redact features of %d targets: %w", len(fresh), err)
	}
	for _, one := range fresh {
		l.features.Add(one)
	}
	l.redacts.Store(l.features.Any())
	return nil
}

// Lift accepts records of these keyed hashes again. The subjects in still stay suppressed up to
// their timestep, and only later records are accepted. It is durable when it returns.
func (l *List) Lift(hashes []lethe.Digest, still ...lethe.SubjectUntil) error {
	err := l.store.Apply(func(w swapstore.Writer) error {
		for _, hash := range hashes {
			w.Delete(Key(hash))
			w.Delete(redactedKey(hash))
		}
		setSubjects(w, still)
		return nil
	})
	if err != nil {
		return fmt.Errorf("lift the suppression of %d targets: %w", len(hashes), err)
	}
	l.all.Lift(hashes, still...)
	l.features.Drop(hashes)
	l.redacts.Store(l.features.Any())
	return nil
}

// Has reports whether the target with this keyed hash is erased.
func (l *List) Has(hash lethe.Digest) bool { return l.all.Has(hash) }

// Names reports whether one of the transactions is erased or, given two, the payment from the
// first to the second.
func (l *List) Names(about []lethe.TransactionID) bool {
	if !l.all.Any() {
		return false
	}
	for _, id := range about {
		if l.all.Has(l.secret.Suppression(id)) {
			return true
		}
	}
	return len(about) == 2 && l.all.Has(l.secret.SuppressedPayment(about[0], about[1]))
}

// Take reports whether a record that carries subjects in a timestep must be dropped because one
// of them is erased.
func (l *List) Take(t lethe.Timestep, subjects []string) bool {
	if !l.all.AnySubject() {
		return false
	}
	hashes := make([]lethe.Digest, len(subjects))
	for i, subject := range subjects {
		hashes[i] = l.secret.SuppressedSubject(subject)
	}
	return l.all.Take(t, hashes)
}

// Redacts reports whether features of any transaction are erased. Any goroutine may call it.
func (l *List) Redacts() bool { return l.redacts.Load() }

// Redacted returns the erased features of a transaction, if any.
func (l *List) Redacted(id lethe.TransactionID) (lethe.Columns, bool) {
	return l.features.Of(l.secret, id)
}
