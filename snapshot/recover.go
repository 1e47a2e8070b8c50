package snapshot

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/internal/swapstore"
)

// format is what a store remembers of the options it was written with. The
// check value tells another secret without saying anything about this one.
func (s *Store) format() []byte {
	check := s.options.Secret.Hash("snapshot-store")
	dst := append([]byte{formatVersion}, check[:16]...)
	dst = binary.BigEndian.AppendUint32(dst, uint32(s.options.TransactionPartitions))
	return binary.BigEndian.AppendUint32(dst, uint32(s.options.LabelPartitions))
}

// checkFormat compares the options with those the store was written with, or
// writes them into a new store.
func (s *Store) checkFormat() error {
	want := s.format()
	got, found, err := s.staging.Get([]byte{kindFormat})
	if err != nil {
		return err
	}
	if !found {
		return s.staging.Apply(func(w swapstore.Writer) error { return w.Set([]byte{kindFormat}, want) })
	}
	if len(got) != len(want) || got[0] != want[0] {
		return fmt.Errorf("%w: format of %d bytes, want version %d", ErrIncompatible, len(got), want[0])
	}
	if !slices.Equal(got[1:17], want[1:17]) {
		return fmt.Errorf("%w: another secret", ErrIncompatible)
	}
	for i, name := range []string{"transaction partitions", "label partitions"} {
		g, w := binary.BigEndian.Uint32(got[17+4*i:]), binary.BigEndian.Uint32(want[17+4*i:])
		if g != w {
			return fmt.Errorf("%w: %s: stored %d, now %d", ErrIncompatible, name, g, w)
		}
	}
	return nil
}

// load reads into memory what is kept there.
func (s *Store) load() error {
	s.infos = make(map[lethe.Timestep]Info)
	s.offsets = make(map[TopicPartition]int64)
	s.suppressed = make(map[lethe.Digest]struct{})
	s.rewriting = make(map[lethe.Timestep]struct{})
	s.watermarks = map[Stream][]lethe.Timestep{
		Transactions: make([]lethe.Timestep, s.options.TransactionPartitions),
		Labels:       make([]lethe.Timestep, s.options.LabelPartitions),
	}
	for _, watermarks := range s.watermarks {
		for p := range watermarks {
			watermarks[p] = s.options.FirstTimestep
		}
	}
	s.featureCount = s.options.FeatureCount
	for _, kind := range []byte{kindFeatureCount, kindOffset, kindSuppressed, kindInfo, kindWatermark, kindRewriting} {
		if err := s.staging.Scan([]byte{kind}, s.loadEntry); err != nil {
			return fmt.Errorf("read staging, kind %q: %w", kind, err)
		}
	}
	return nil
}

func (s *Store) loadEntry(key, value []byte) error {
	c := cursorOver(value)
	switch key[0] {
	case kindFeatureCount:
		stored := int(c.Uint32())
		if s.options.FeatureCount != 0 && s.options.FeatureCount != stored {
			return fmt.Errorf("%w: feature count: stored %d, now %d", ErrIncompatible, stored, s.options.FeatureCount)
		}
		s.featureCount = stored
	case kindOffset:
		k := cursorOver(key[1:])
		p := TopicPartition{Partition: int(k.Uint32())}
		p.Topic = string(k.Take(k.Left()))
		s.offsets[p] = int64(c.Uint64())
	case kindSuppressed:
		s.suppressed[lethe.Digest(key[1:])] = struct{}{}
	case kindWatermark:
		k := cursorOver(key[1:])
		stream, partition := Stream(k.Uint8()), int(k.Uint32())
		if k.Err() != nil || partition >= len(s.watermarks[stream]) {
			return fmt.Errorf("%w: watermark of stream %d partition %d", ErrCorrupt, stream, partition)
		}
		s.watermarks[stream][partition] = lethe.Timestep(c.Uint64())
	case kindInfo, kindRewriting:
		t, err := timestepOf(key)
		if err != nil {
			return err
		}
		if key[0] == kindRewriting {
			s.rewriting[t] = struct{}{}
			break
		}
		s.infos[t], err = decodeInfo(t, value)
		return err
	}
	return c.close("entry")
}

// sweep removes the stores of timesteps that staging does not list as closed:
// a crash left them behind.
func (s *Store) sweep() error {
	names, err := s.options.FS.List(s.dir)
	if err != nil {
		return fmt.Errorf("list timestep stores: %w", err)
	}
	for _, name := range names {
		t, ok := parseStoreName(s.options.FS.PathBase(name))
		if !ok || s.infos[t].State > lethe.Open {
			continue
		}
		if err := s.stores.remove(t); err != nil {
			return fmt.Errorf("remove left-over store: %w", err)
		}
	}
	return nil
}

// finishRewriting takes over what an interrupted Erase changed in timestep
// stores. The erasure itself is for its requester to go on with.
func (s *Store) finishRewriting() error {
	if len(s.rewriting) == 0 {
		return nil
	}
	for _, t := range slices.Sorted(maps.Keys(s.rewriting)) {
		m, err := s.meta(t)
		if err != nil {
			return fmt.Errorf("timestep %d: %w", t, err)
		}
		s.infos[t] = m.applyTo(s.infos[t])
	}
	err := s.staging.Apply(func(w swapstore.Writer) error {
		for t := range s.rewriting {
			if err := w.Set(timestepKey(kindInfo, t), s.infos[t].encode()); err != nil {
				return err
			}
			if err := w.Delete(timestepKey(kindRewriting, t)); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		clear(s.rewriting)
	}
	return err
}
