// Package subjects has the indexes of subjects in staging: from a subject to its carriers, and from a transaction or
// payment to its subjects. Both hold pseudonyms. A subject that one record names stays attached to the transaction or
// payment whatever later records contain, so that the result does not depend on their order.
package subjects

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/internal/normalise"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
	"lethe/snapshot/stored"
)

// Kinds of keys.
const (
	// Kind is followed by a subject, a timestep and pseudonyms: the subject's carrier.
	Kind = 'b'
	// kindCarries is followed by a pseudonym and a key of Kind: a subject that it or its payment carries.
	kindCarries = 'y'
)

const timestepBytes = timestepkey.Bytes

// Store has the indexes.
type Store interface {
	swapstore.Reader
	swapstore.Applier
}

// Index queries and changes the indexes.
type Index struct {
	store  Store
	secret lethe.Secret
}

// Over returns the indexes of a store.
func Over(store Store, secret lethe.Secret) Index { return Index{store, secret} }

// carrier is a transaction or a payment that carries subjects.
type carrier struct {
	at lethe.Timestep
	// about is the transaction, or both ends of the payment; ids are their ids.
	about []lethe.Pseudonym
	ids   []lethe.TransactionID
	// folded is the pseudonym of the subject's folded form (normalise.Folded), or zero if the subject is in that form.
	folded lethe.Pseudonym
}

// key is the carrier's key in the index by subject.
func (c carrier) key(subject lethe.Pseudonym) []byte {
	key := binary.BigEndian.AppendUint64(stored.Key(Kind, subject), uint64(c.at))
	return stored.AppendPseudonyms(key, c.about...)
}

func decodeCarrier(key, value []byte) (c carrier, err error) {
	k, v := stored.Over(key), stored.Over(value)
	k.Take(1 + stored.PseudonymBytes)
	c.at = lethe.Timestep(k.Uint64())
	for k.Left() >= stored.PseudonymBytes {
		var p lethe.Pseudonym
		k.Bytes(p[:])
		c.about, c.ids = append(c.about, p), append(c.ids, lethe.TransactionID(v.Text()))
	}
	if v.Left() > 0 {
		v.Bytes(c.folded[:])
	}
	if err := k.Done("key of a carrier"); err != nil {
		return c, err
	}
	return c, v.Done("carrier")
}

// target returns the carrier as a target.
func (c carrier) target() lethe.Target {
	if len(c.ids) == 2 {
		return lethe.PaymentBetween(c.ids[0], c.ids[1])
	}
	return lethe.Transactions(c.ids...)[0]
}

// Put sets the entries that a transaction, or a payment between two, carries subjects.
func (x Index) Put(set func(key, value []byte), at lethe.Timestep, subjects []string, ids ...lethe.TransactionID) {
	if len(subjects) == 0 {
		return
	}
	c := carrier{at: at}
	var names []byte
	for _, id := range ids {
		c.about, names = append(c.about, x.secret.Pseudonym(id)), stored.AppendString(names, string(id))
	}
	for _, subject := range subjects {
		value := slices.Clip(names)
		if folded := normalise.Folded(subject); folded != subject {
			p := x.secret.SubjectPseudonym(folded)
			value = append(value, p[:]...)
		}
		key := c.key(x.secret.SubjectPseudonym(subject))
		set(key, value)
		for _, end := range c.about { // from both ends, because the payment is erased with either
			set(append(stored.Key(kindCarries, end), key...), []byte{})
		}
	}
}

// Carry stores that transactions and payments carry a subject; it is then deleted with any of them. It is durable
// when it returns.
func (x Index) Carry(subject lethe.Target, targets []lethe.Target) error {
	writes := make(map[string][]byte)
	for _, t := range targets {
		ids := []lethe.TransactionID{t.Transaction}
		if t.Kind == lethe.PaymentTarget {
			ids = []lethe.TransactionID{t.Payment.Source, t.Payment.Target}
		}
		// At timestep 0, so never later than the erased ones.
		x.Put(func(key, value []byte) { writes[string(key)] = value }, 0, []string{subject.Subject}, ids...)
	}
	err := x.store.Apply(func(w swapstore.Writer) error {
		for _, key := range slices.Sorted(maps.Keys(writes)) {
			w.Set([]byte(key), writes[key])
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("what carries a subject: %w", err)
	}
	return nil
}
