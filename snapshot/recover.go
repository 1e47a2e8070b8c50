package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"lethe"
	"lethe/internal/swapstore"
)

// openStaging opens staging and reads into memory what is mirrored there.
func openStaging(path string, o Options) (*staging, error) {
	store, err := swapstore.Open(o.FS, path, swapstore.Format{})
	if err != nil {
		return nil, fmt.Errorf("open staging: %w", err)
	}
	s := &staging{
		Store: store, options: o, featureCount: o.FeatureCount,
		infos:      make(map[lethe.Timestep]Info),
		offsets:    make(map[TopicPartition]int64),
		suppressed: make(map[lethe.Digest]struct{}),
		watermarks: map[Stream][]lethe.Timestep{
			Transactions: slices.Repeat([]lethe.Timestep{o.FirstTimestep}, o.TransactionPartitions),
			Labels:       slices.Repeat([]lethe.Timestep{o.FirstTimestep}, o.LabelPartitions),
		},
	}
	err = s.checkFormat()
	for _, kind := range []byte{kindFeatureCount, kindOffset, kindSuppressed, kindInfo, kindWatermark} {
		if err == nil {
			err = s.Scan([]byte{kind}, s.mirror)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open snapshot store: %w", errors.Join(err, store.Close()))
	}
	return s, nil
}

// checkFormat compares the options with those the store was written with, or
// writes them into a new store. The check value tells another secret without
// saying anything about this one.
func (s *staging) checkFormat() error {
	check := s.options.Secret.Hash("snapshot-store")
	want := append([]byte{formatVersion}, check[:16]...)
	want = binary.BigEndian.AppendUint32(want, uint32(s.options.TransactionPartitions))
	want = binary.BigEndian.AppendUint32(want, uint32(s.options.LabelPartitions))
	got, found, err := s.Get([]byte{kindFormat})
	if err != nil {
		return err
	}
	if !found {
		return s.Apply(func(w swapstore.Writer) error { return w.Set([]byte{kindFormat}, want) })
	}
	if len(got) > 0 && got[0] != want[0] {
		return fmt.Errorf("%w: snapshots of version %d, this program reads %d", swapstore.ErrFormat, got[0], want[0])
	}
	if len(got) != len(want) {
		return fmt.Errorf("%w: format of %d bytes, want %d", ErrCorrupt, len(got), len(want))
	}
	if !slices.Equal(got[1:17], want[1:17]) {
		return fmt.Errorf("%w: another secret", ErrIncompatible)
	}
	for i, name := range []string{"transaction partitions", "label partitions"} {
		g, w := binary.BigEndian.Uint32(got[17+4*i:]), binary.BigEndian.Uint32(want[17+4*i:])
		if g != w {
			return fmt.Errorf("%w: %s were %d, now they are %d", ErrIncompatible, name, g, w)
		}
	}
	return nil
}

// mirror takes a stored entry into memory.
func (s *staging) mirror(key, value []byte) error {
	k, c := cursorOver(key[1:]), cursorOver(value)
	switch key[0] {
	case kindFeatureCount:
		stored := int(c.Uint32())
		if s.options.FeatureCount != 0 && s.options.FeatureCount != stored {
			return fmt.Errorf("%w: ingest.feature_count was %d, now it is %d", ErrIncompatible, stored, s.options.FeatureCount)
		}
		s.featureCount = stored
	case kindOffset:
		p := TopicPartition{Partition: int(k.Uint32())}
		p.Topic = string(k.Take(k.Left()))
		s.offsets[p] = int64(c.Uint64())
	case kindSuppressed:
		var d lethe.Digest
		k.Bytes(d[:])
		s.suppressed[d] = struct{}{}
	case kindWatermark:
		stream, partition := Stream(k.Uint8()), int(k.Uint32())
		if k.Err() != nil || partition >= len(s.watermarks[stream]) {
			return fmt.Errorf("%w: watermark of stream %d partition %d", ErrCorrupt, stream, partition)
		}
		s.watermarks[stream][partition] = lethe.Timestep(c.Uint64())
	case kindInfo:
		t, err := timestepOf(key)
		if err == nil {
			s.infos[t], err = decodeInfo(t, value)
		}
		return err
	}
	return errors.Join(k.close("key"), c.close("entry"))
}

// recover removes the stores that a crash left behind and takes over what an
// interrupted Erase changed in those of closed timesteps. The erasure itself is
// for its requester to go on with.
func (s *Store) recover() error {
	if err := s.closed.removeUnlisted(s.isListed); err != nil {
		return err
	}
	var rewritten []Info
	err := s.staging.Scan([]byte{kindRewriting}, func(key, _ []byte) error {
		t, err := timestepOf(key)
		if err != nil {
			return err
		}
		store, err := s.closed.get(t)
		if err != nil {
			return err
		}
		m, err := store.meta()
		rewritten = append(rewritten, m.applyTo(s.staging.info(t)))
		return err
	})
	if err != nil || len(rewritten) == 0 {
		return err
	}
	return s.staging.applyInfos(rewritten, func(w swapstore.Writer) error {
		for _, i := range rewritten {
			if err := w.Delete(timestepKey(kindRewriting, i.Timestep)); err != nil {
				return err
			}
		}
		return nil
	})
}

// isListed reports whether staging lists the timestep as closed.
func (s *Store) isListed(t lethe.Timestep) bool { return s.staging.info(t).State > lethe.Open }
