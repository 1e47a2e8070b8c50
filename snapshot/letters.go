package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/snapshot/stored"
)

// Letter is a change to the dead letters: a record was rejected or, if Withdrawn, a rejected
// record has joined its graph and its dead letter must be deleted. Among letters with the same
// key, that of the latest timestep wins.
type Letter struct {
	Refusal
	Withdrawn bool
}

// storedLetter is a letter that the owner has not confirmed. About lists the transactions it
// names, so that erasing one of them finds it.
type storedLetter struct {
	about  []lethe.Pseudonym
	letter Letter
}

func (p storedLetter) encode() []byte {
	dst := stored.AppendPseudonyms([]byte{byte(len(p.about))}, p.about...)
	dst = stored.AppendString(stored.AppendString(dst, p.letter.Reason), p.letter.Detail)
	return appendOrigin(dst, p.letter.Origin)
}

// decodeLetter treats a letter without a reason as a withdrawal.
func decodeLetter(value []byte) (storedLetter, error) {
	c := stored.Over(value)
	p := storedLetter{about: make([]lethe.Pseudonym, c.Uint8())}
	for i := range p.about {
		c.Bytes(p.about[i][:])
	}
	p.letter.Reason, p.letter.Detail = c.Text(), c.Text()
	p.letter.Origin = originFrom(&c)
	p.letter.Withdrawn = p.letter.Reason == ""
	return p, c.Done("letter")
}

// lettersAtOnce bounds the memory of Unconfirmed.
const lettersAtOnce = 10_000

// Letters are the changes to the dead letters that the owner has not confirmed, and other original records.
type Letters struct{ staging *staging }

// Letters returns those of the store.
func (s *Store) Letters() Letters { return Letters{s.staging} }

// Unconfirmed returns the unconfirmed changes to the dead letters, oldest first. It returns them again until Confirm,
// so a caller that crashed before publishing them gets them again.
// One call returns at most 10,000.
func (l Letters) Unconfirmed() ([]Letter, error) {
	var out []Letter
	err := l.staging.Scan([]byte{kindLetter}, func(_, value []byte) error {
		r, err := decodeLetter(value)
		if out = append(out, r.letter); err == nil && len(out) == lettersAtOnce {
			err = errStop
		}
		return err
	})
	if err != nil && !errors.Is(err, errStop) {
		return nil, fmt.Errorf("letters: %w", err)
	}
	return out, nil
}

// Confirm deletes the count oldest letters, at most as many as Unconfirmed has returned.
func (l Letters) Confirm(count int) error {
	err := l.staging.Apply(func(w swapstore.Writer) error {
		err := l.staging.Scan([]byte{kindLetter}, func(key, _ []byte) error {
			if count--; count < 0 {
				return errStop
			}
			w.Delete(key)
			return nil
		})
		if errors.Is(err, errStop) {
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("confirm %d letters: %w", count, err)
	}
	return nil
}

// Originals calls fn for every original record in the store: those of pending payments and
// labels, and of unconfirmed letters.
func (l Letters) Originals(fn func(Origin) error) error {
	for kind, decode := range map[byte]func(value []byte) (Origin, error){
		kindPayment: func(value []byte) (Origin, error) { p, err := decodePayment(value); return p.origin, err },
		kindLabel:   func(value []byte) (Origin, error) { p, err := decodeLabel(value); return p.origin, err },
		kindLetter:  func(value []byte) (Origin, error) { one, err := decodeLetter(value); return one.letter.Origin, err },
	} {
		err := l.staging.Scan([]byte{kind}, func(_, value []byte) error {
			o, err := decode(value)
			if err != nil {
				return err
			}
			return fn(o)
		})
		if err != nil {
			return fmt.Errorf("records kept as they came: %w", err)
		}
	}
	return nil
}

// nextLetter returns the number of the next letter.
func (s *staging) nextLetter() (number uint64, err error) {
	err = s.Scan([]byte{kindLetter}, func(key, _ []byte) error {
		if len(key) != 1+8 {
			return fmt.Errorf("%w: key of a letter has %d bytes", ErrCorrupt, len(key))
		}
		number = binary.BigEndian.Uint64(key[1:]) + 1
		return nil
	})
	return number, err
}
