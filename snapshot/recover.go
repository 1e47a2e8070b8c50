package snapshot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/snapshot/closed"
	"lethe/snapshot/index"
	"lethe/snapshot/lacking"
	"lethe/snapshot/openrows"
	"lethe/snapshot/stored"
	"lethe/snapshot/subjects"
	"lethe/snapshot/suppressed"
)

// openStaging opens staging and loads its mirror into memory.
func openStaging(path string, o Options) (*staging, error) {
	store, err := swapstore.OpenSized(o.FS, path, stagingFormat(), swapstore.Busy())
	if err != nil {
		return nil, fmt.Errorf("open staging: %w", err)
	}
	s := newStaging(store, o)
	if err = s.checkOptions(); err == nil {
		s.rows, err = openrows.Open(o.FS, store, o.RowFileBytes)
	}
	for _, kind := range []byte{
		kindFeatureCount, kindOffset, suppressed.Kind, suppressed.KindRedacted, kindInfo, kindWatermark, kindGone,
	} {
		if err == nil {
			err = s.Scan([]byte{kind}, s.mirror)
		}
	}
	if err == nil {
		err = errors.Join(s.payments.Load(s), s.labels.Load(s))
	}
	if err == nil {
		err = s.beginAt(o.FirstTimestep)
	}
	if err != nil {
		return nil, fmt.Errorf("open snapshot store: %w", errors.Join(err, store.Close()))
	}
	return s, nil
}

// beginAt raises watermarks to the first timestep. Errors: ErrIncompatible if an earlier one is stored.
func (s *staging) beginAt(first lethe.Timestep) error {
	if stored := s.Timesteps(); len(stored) > 0 && stored[0].Timestep < first {
		return fmt.Errorf("%w: ingest.first_timestep is %d, and timestep %d has records: set it to at most that, or begin a "+
			"new data directory under another kafka.topic_prefix", ErrIncompatible, first, stored[0].Timestep)
	}
	for _, marks := range s.watermarks {
		for partition, at := range marks {
			marks[partition] = max(at, first)
		}
	}
	return nil
}

// newStaging returns staging over its store, with an empty mirror.
func newStaging(store *swapstore.Store, o Options) *staging {
	s := &staging{
		Store: store, options: o, featureCount: o.FeatureCount,
		offsets:  make(map[TopicPartition]int64),
		payments: lacking.New(kindPayment, o.MaxWaiting),
		labels:   lacking.New(kindLabel, o.MaxWaiting), index: index.New(store),
		timesteps: &timesteps{
			infos: make(map[lethe.Timestep]Info), gone: make(map[lethe.Timestep]lethe.Revision),
			watermarks: map[Stream][]lethe.Timestep{
				Transactions: slices.Repeat([]lethe.Timestep{o.FirstTimestep}, o.TransactionPartitions),
				Labels:       slices.Repeat([]lethe.Timestep{o.FirstTimestep}, o.LabelPartitions),
			},
		},
	}
	s.suppressed, s.subjects = suppressed.New(s, o.Secret), subjects.Over(s, o.Secret)
	return s
}

// stagingOf is the error for a version of staging that this program does not read.
func stagingOf(version byte) error {
	return fmt.Errorf("%w: staging of version %d, this program reads %d", swapstore.ErrFormat, version, stagingVersion)
}

// checkOptions compares the options with those of the store, or writes them into a new store. The
// check value detects another secret without revealing the secret.
func (s *staging) checkOptions() error {
	check := s.options.Secret.Hash("snapshot-store")
	want := append([]byte{stagingVersion}, check[:16]...)
	want = binary.BigEndian.AppendUint32(want, uint32(s.options.TransactionPartitions))
	want = binary.BigEndian.AppendUint32(want, uint32(s.options.LabelPartitions))
	got, found, err := s.Get([]byte{kindFormat})
	if err != nil {
		return err
	}
	if !found {
		return swapstore.Set(s, []byte{kindFormat}, want)
	}
	if len(got) > 0 && got[0] != stagingVersion {
		return stagingOf(got[0])
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

// mirror loads a stored entry into memory.
func (s *staging) mirror(key, value []byte) error {
	k, c := stored.Over(key[1:]), stored.Over(value)
	switch key[0] {
	case kindFeatureCount:
		stored := int(c.Uint32())
		if s.options.FeatureCount != 0 && s.options.FeatureCount != stored {
			return fmt.Errorf("%w: ingest.feature_count was %d, now it is %d: begin a new data directory under another "+
				"kafka.topic_prefix beside this one, see docs/operations.md#another-number-of-features", ErrIncompatible, stored,
				s.options.FeatureCount)
		}
		s.featureCount = stored
	case kindOffset:
		p := TopicPartition{Partition: int(k.Uint32())}
		p.Topic = string(k.Take(k.Left()))
		s.offsets[p] = int64(c.Uint64())
	case suppressed.Kind, suppressed.KindRedacted:
		return s.suppressed.Mirror(key, value)
	case kindWatermark:
		stream, partition := Stream(k.Uint8()), int(k.Uint32())
		if k.Err() != nil || partition >= len(s.watermarks[stream]) {
			return fmt.Errorf("%w: watermark of stream %d partition %d", ErrCorrupt, stream, partition)
		}
		s.watermarks[stream][partition] = lethe.Timestep(c.Uint64())
	case kindGone:
		t, err := timestepOf(key)
		if err != nil {
			return err
		}
		s.gone[t] = lethe.Revision(c.Uint32())
		return c.Done("gone")
	case kindInfo:
		t, err := timestepOf(key)
		if err == nil {
			s.infos[t], err = decodeInfo(t, value)
		}
		return err
	}
	return errors.Join(k.Done("key"), c.Done("entry"))
}

// requireStaging rejects a folder without staging: the graphs would be removed as left-overs, and erased records would
// be accepted again.
func requireStaging(graphs closed.Folder) error {
	n, err := graphs.Count()
	if err != nil || n == 0 {
		return err
	}
	if _, err := graphs.FS.Stat(graphs.FS.PathJoin(graphs.Dir, StagingFolder)); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s holds the graphs of %d timesteps, but no %s (put the folder back from a copy)",
			ErrCorrupt, graphs.Dir, n, StagingFolder)
	}
	return err
}

// recover recovers from a crash. The requester must continue an erasure itself; waiting records continue to wait.
func (t transition) recover() error {
	if err := t.dropEmpty(); err != nil {
		return err
	}
	return t.store.closed.RemoveUnlisted(t.staging.files)
}
