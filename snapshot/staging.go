package snapshot

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"lethe"
	"lethe/internal/swapstore"
)

const stagingName = "staging"

// staging holds the records of open timesteps, the payments and labels that are
// pending, the refusals that are not confirmed, and what is known of every
// timestep, partition and erased transaction.
type staging struct {
	*swapstore.Store
	options Options

	// What follows mirrors the store.

	featureCount int
	infos        map[lethe.Timestep]Info
	offsets      map[TopicPartition]int64
	watermarks   map[Stream][]lethe.Timestep
	suppressed   map[lethe.Digest]struct{}

	// epoch counts the changes; a batch of an older one is stale.
	epoch int
}

// Apply is that of the store. Batches begun before are stale.
func (s *staging) Apply(fn func(w swapstore.Writer) error) error {
	s.epoch++
	return s.Store.Apply(fn)
}

// applyInfos stores what is known of some timesteps, nothing if nothing is left
// to know, together with other changes.
func (s *staging) applyInfos(infos []Info, other func(w swapstore.Writer) error) error {
	err := s.Apply(func(w swapstore.Writer) error {
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
		return other(w)
	})
	if err != nil {
		return err
	}
	for _, i := range infos {
		s.infos[i.Timestep] = i
	}
	maps.DeleteFunc(s.infos, func(_ lethe.Timestep, i Info) bool { return i.empty() })
	return nil
}

// info returns what is known of a timestep, or what is known of a new one.
func (s *staging) info(t lethe.Timestep) Info {
	if i, found := s.infos[t]; found {
		return i
	}
	return Info{Timestep: t, State: lethe.Open, Previous: lethe.NoTimestep}
}

// timesteps returns what is known of every timestep, ascending.
func (s *staging) timesteps() []Info {
	return slices.SortedFunc(maps.Values(s.infos), func(a, b Info) int { return cmp.Compare(a.Timestep, b.Timestep) })
}

// watermark returns the lowest watermark of a stream's partitions: timesteps
// below it take no more records.
func (s *staging) watermark(stream Stream) lethe.Timestep { return slices.Min(s.watermarks[stream]) }

// lookup returns where a transaction is, as get reads staging.
func lookup(
	get func(key []byte) ([]byte, bool, error), p lethe.Pseudonym,
) (entry indexEntry, known bool, err error) {
	value, found, err := get(pseudonymKey(kindIndex, p))
	if err != nil || !found {
		return indexEntry{}, false, err
	}
	entry, err = decodeIndex(value)
	return entry, err == nil, err
}

// errStop ends a scan early.
var errStop = errors.New("enough")

// scanThrough calls fn for what is stored of a kind up to and including
// timestep t: transactions, or pending payments or labels about the given ones.
func (s *staging) scanThrough(
	kind byte, t lethe.Timestep, fn func(at lethe.Timestep, about []lethe.Pseudonym, value []byte) error,
) error {
	names := 1
	if kind == kindPayment {
		names = 2
	}
	err := s.Scan([]byte{kind}, func(key, value []byte) error {
		at, err := timestepOf(key)
		if err != nil {
			return err
		}
		if at > t {
			return errStop
		}
		about, err := pseudonymsAfter(key, 1+timestepBytes, names)
		if err != nil {
			return err
		}
		return fn(at, about, value)
	})
	if errors.Is(err, errStop) {
		return nil
	}
	return err
}
