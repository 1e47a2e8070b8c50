package snapshot

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/internal/swapstore"
)

// Batch processes records of one topic partition in log order. Commit stores everything, including watermark and
// offset, or nothing.
type Batch struct {
	overlay
	names  lethe.Pseudonymizer
	source Source
	epoch  int
	// nextOffset is one after the last record seen; a record below it is a redelivery.
	nextOffset int64
	passage
	bound bound
}

// Begin starts a batch of one topic partition. The partition must be below the
// stream's partition count.
func (s *Store) Begin(source Source) (*Batch, error) {
	b := &Batch{
		overlay: overlay{changes: s.staging.change(), closed: s.closed}, names: s.staging.options.Secret.Pseudonymizer(),
		source: source, epoch: s.staging.epoch, passage: passage{stream: source.Stream, options: &s.staging.options},
		nextOffset: s.staging.offsets[TopicPartition{source.Topic, source.Partition}],
	}
	b.bound = bound{changes: b.changes, source: source, passage: &b.passage}
	if source.Stream == NoStream {
		return b, nil
	}
	watermarks := s.staging.watermarks[source.Stream]
	if source.Partition < 0 || source.Partition >= len(watermarks) {
		return nil, fmt.Errorf("topic %s: partition %d of %d", source.Topic, source.Partition, len(watermarks))
	}
	b.watermark = watermarks[source.Partition]
	return b, nil
}

// Control processes a control record: the partition will send no more records of timesteps up to
// and including t. An error is not a verdict.
func (b *Batch) Control(t lethe.Timestep, o Origin) (Verdict, error) {
	if err := b.check(b.source.Stream, t); err != nil {
		return Verdict{}, err
	}
	if b.source.Stream == NoStream {
		return Verdict{}, fmt.Errorf("topic %s has no timesteps to end", b.source.Topic)
	}
	if b.redelivered(o) {
		return Verdict{Outcome: Duplicate}, nil
	}
	if at := b.arrives(t); at.tooFar {
		return refuse(o, ReasonTimestepJump, at.String()), nil
	}
	b.watermark = max(b.watermark, t+1)
	return Verdict{Outcome: Accepted}, nil
}

// Commit stores the batch durably. The partition resumes at nextOffset, or at the stored offset
// if that is higher. After an error the store is unchanged, and the caller must consume again
// from Offsets.
func (b *Batch) Commit(nextOffset int64) error {
	if err := b.check(NoStream, 0); err != nil {
		return err
	}
	s := b.staging
	at := TopicPartition{b.source.Topic, b.source.Partition}
	nextOffset = max(nextOffset, s.offsets[at])
	b.set(offsetKey(at), binary.BigEndian.AppendUint64(nil, uint64(nextOffset)))
	if b.source.Stream != NoStream {
		b.set(watermarkKey(b.source.Stream, b.source.Partition), binary.BigEndian.AppendUint64(nil, uint64(b.watermark)))
	}
	if s.featureCount > 0 { // one that is configured is not stored before
		b.set([]byte{kindFeatureCount}, binary.BigEndian.AppendUint32(nil, uint32(s.featureCount)))
	}
	for t, i := range b.infos {
		b.set(timestepKey(kindInfo, t), i.encode())
	}
	files := b.rowFiles()
	err := s.Apply(func(w swapstore.Writer) error {
		set := func(key, value []byte) {
			s.index.Meet(key, value)
			w.Set(key, value)
		}
		for _, key := range slices.Sorted(maps.Keys(b.writes)) {
			set([]byte(key), b.writes[key])
		}
		storeKnown(b.known, files, set)
		files.Describe(w)
		return files.Write()
	})
	if err != nil {
		return fmt.Errorf("commit topic %s partition %d offset %d: %w", at.Topic, at.Partition, nextOffset, err)
	}
	s.offsets[at] = nextOffset
	maps.Copy(s.infos, b.infos)
	if b.source.Stream != NoStream {
		s.watermarks[b.source.Stream][b.source.Partition] = b.watermark
	}
	return nil
}

// check rejects wrong use: a stale batch, a record of another stream than the batch's, or a
// timestep outside the range that decoders accept. NoStream matches any stream.
func (b *Batch) check(want Stream, t lethe.Timestep) error {
	switch {
	case b.epoch != b.staging.epoch:
		return ErrStale
	case want != NoStream && b.source.Stream != want:
		return fmt.Errorf("topic %s carries another stream", b.source.Topic)
	case t < 0 || t > lethe.MaxTimestep:
		return fmt.Errorf("timestep %d is out of 0..%d", t, lethe.MaxTimestep)
	}
	return nil
}

// redelivered reports whether a record was delivered before; otherwise it advances nextOffset.
func (b *Batch) redelivered(o Origin) bool {
	if o.Offset < b.nextOffset {
		return true
	}
	b.nextOffset = o.Offset + 1
	return false
}
