package snapshot

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/internal/swapstore"
)

// judgedInfos returns the infos of timesteps below t that never became known,
// after what awaited judgement there was judged.
func (s *Store) judgedInfos(t lethe.Timestep, change func(*Info)) []Info {
	var out []Info
	for _, at := range slices.Sorted(maps.Keys(s.infos)) {
		if i := s.infos[at]; at < t && !i.known() {
			change(&i)
			out = append(out, i)
		}
	}
	return out
}

// writeInfos stores infos, and deletes those of which nothing is left.
func writeInfos(w swapstore.Writer, infos []Info) error {
	for _, i := range infos {
		key := timestepKey(kindInfo, i.Timestep)
		err := w.Set(key, i.encode())
		if i.empty() {
			err = w.Delete(key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// takeInfos does in memory what writeInfos did on disk.
func (s *Store) takeInfos(infos []Info) {
	for _, i := range infos {
		s.infos[i.Timestep] = i
		if i.empty() {
			delete(s.infos, i.Timestep)
		}
	}
}

// Refused returns the payments and labels refused when timestep t was closed
// and settled, again and again until ConfirmRefused: a caller that was killed
// before it had written them elsewhere finds them here.
func (s *Store) Refused(t lethe.Timestep) ([]Refused, error) {
	var out []Refused
	err := s.staging.Scan(timestepKey(kindRefused, t), func(_, value []byte) error {
		r, err := decodeRefusal(value)
		out = append(out, r.refused)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("refusals of timestep %d: %w", t, err)
	}
	return out, nil
}

// ConfirmRefused forgets the refusals of a timestep that Refused has returned.
func (s *Store) ConfirmRefused(t lethe.Timestep) error {
	s.epoch++
	err := s.staging.Apply(func(w swapstore.Writer) error {
		return s.staging.Scan(timestepKey(kindRefused, t), func(key, _ []byte) error { return w.Delete(key) })
	})
	if err != nil {
		return fmt.Errorf("confirm refusals of timestep %d: %w", t, err)
	}
	return nil
}

// addRefusals stores refusals behind those of the timestep that are not
// confirmed yet.
func (s *Store) addRefusals(w swapstore.Writer, t lethe.Timestep, refusals []pendingRefusal) error {
	number := 0
	err := s.staging.Scan(timestepKey(kindRefused, t), func(key, _ []byte) error {
		k := cursorOver(key[1+timestepBytes:])
		number = int(k.Uint32()) + 1
		return k.close("refusal number")
	})
	for i, r := range refusals {
		err = errors.Join(err, w.Set(refusedKey(t, number+i), r.encode()))
	}
	return err
}
