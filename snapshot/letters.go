package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"

	"lethe/internal/swapstore"
)

// lettersAtOnce bounds what Letters holds in memory.
const lettersAtOnce = 10_000

// Letters returns what has to be said in the dead letters since, oldest first, again
// and again until ConfirmLetters: a caller that was killed before it had written them
// elsewhere finds them here. There may be more than are returned at once.
func (s *Store) Letters() ([]Letter, error) {
	var out []Letter
	err := s.staging.Scan([]byte{kindLetter}, func(_, value []byte) error {
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

// ConfirmLetters forgets the oldest letters, as many as Letters has returned.
func (s *Store) ConfirmLetters(count int) error {
	err := s.staging.Apply(func(w swapstore.Writer) error {
		err := s.staging.Scan([]byte{kindLetter}, func(key, _ []byte) error {
			if count--; count < 0 {
				return errStop
			}
			return w.Delete(key)
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

// nextLetter returns the number of the letter to be stored next.
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

// CheckStaging reads all that a store keeps of records outside the graphs, so that a
// damaged block is found. Error: ErrCorrupt.
func CheckStaging(s *Store) error {
	if err := s.staging.Scan(nil, func(_, _ []byte) error { return nil }); err != nil {
		return fmt.Errorf("staging: %w", err)
	}
	return nil
}

// Originals calls fn for every record that is kept as its producer wrote it: those of
// pending payments and labels, and of letters that are not confirmed.
func (s *Store) Originals(fn func(Origin) error) error {
	for kind, decode := range map[byte]func(value []byte) (Origin, error){
		kindPayment: func(value []byte) (Origin, error) { p, err := decodePayment(value); return p.origin, err },
		kindLabel:   func(value []byte) (Origin, error) { p, err := decodeLabel(value); return p.origin, err },
		kindLetter:  func(value []byte) (Origin, error) { l, err := decodeLetter(value); return l.letter.Origin, err },
	} {
		err := s.staging.Scan([]byte{kind}, func(_, value []byte) error {
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
