package snapshot

import (
	"errors"
	"fmt"

	"lethe"
	"lethe/internal/swapstore"
)

// Refusals returns the payments and labels refused when timestep t was closed
// and settled, again and again until ConfirmRefusals: a caller that was killed
// before it had written them elsewhere finds them here.
func (s *Store) Refusals(t lethe.Timestep) ([]Refusal, error) {
	var out []Refusal
	err := s.staging.Scan(timestepKey(kindRefusal, t), func(_, value []byte) error {
		r, err := decodeRefusal(value)
		out = append(out, r.refusal)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("refusals of timestep %d: %w", t, err)
	}
	return out, nil
}

// ConfirmRefusals forgets the refusals of a timestep that Refusals has returned.
func (s *Store) ConfirmRefusals(t lethe.Timestep) error {
	err := s.staging.Apply(func(w swapstore.Writer) error {
		return s.staging.Scan(timestepKey(kindRefusal, t), func(key, _ []byte) error { return w.Delete(key) })
	})
	if err != nil {
		return fmt.Errorf("confirm refusals of timestep %d: %w", t, err)
	}
	return nil
}

// addRefusals stores refusals behind those of the timestep that are not
// confirmed yet.
func (s *staging) addRefusals(w swapstore.Writer, t lethe.Timestep, refusals []storedRefusal) error {
	number := 0
	err := s.Scan(timestepKey(kindRefusal, t), func(key, _ []byte) error {
		k := cursorOver(key[1+timestepBytes:])
		number = int(k.Uint32()) + 1
		return k.close("refusal number")
	})
	for i, r := range refusals {
		err = errors.Join(err, w.Set(refusalKey(t, number+i), r.encode()))
	}
	return err
}
