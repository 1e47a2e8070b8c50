package snapshot

import (
	"encoding/binary"
	"fmt"
	"slices"

	"lethe"
	"lethe/internal/swapstore"
	"lethe/snapshot/subjects"
)

// Marks is a small key-value area for the owner's own bookkeeping, next to the offsets. Erase does not search
// it: keys and values must hold no id, feature or other content of a record. It may be used from any
// goroutine; Put waits for a running Scrub.Switch. The methods that do not concern marks (FixFeatureCount,
// HasContents, Subjects) are only for the goroutine that uses the Store.
type Marks struct{ staging *staging }

// Marks returns the owner's area.
func (s *Store) Marks() Marks { return Marks{s.staging} }

func markKey(key []byte) []byte { return append([]byte{kindMark}, key...) }

// Get returns a copy of the value of a key and whether it exists.
func (m Marks) Get(key []byte) (value []byte, found bool, err error) {
	return m.staging.Get(markKey(key))
}

// Watermarks returns a copy of a stream's watermarks by partition. Only the goroutine that uses the Store may call
// it.
func (m Marks) Watermarks(stream Stream) []lethe.Timestep {
	return slices.Clone(m.staging.watermarks[stream])
}

// Put stores a value under a key. It is durable when Put returns.
func (m Marks) Put(key, value []byte) error { return m.PutAll([][]byte{key}, value) }

// PutAll stores a value under every key, in one write.
func (m Marks) PutAll(keys [][]byte, value []byte) error {
	rows := make([]Mark, len(keys))
	for i, key := range keys {
		rows[i] = Mark{key, value}
	}
	return m.PutEach(rows...)
}

// Mark is a key of the owner's area and its value.
type Mark struct{ Key, Value []byte }

// PutEach stores marks in one write.
func (m Marks) PutEach(marks ...Mark) error { return m.put(m.staging.Apply, marks) }

// PutUnsynced stores marks without waiting; they become durable with any later durable write.
func (m Marks) PutUnsynced(marks ...Mark) error {
	m.staging.epoch++
	return m.put(m.staging.ApplyUnsynced, marks)
}

func (m Marks) put(apply func(func(swapstore.Writer) error) error, marks []Mark) error {
	err := apply(func(w swapstore.Writer) error {
		for _, mark := range marks {
			w.Set(markKey(mark.Key), mark.Value)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("put mark: %w", err)
	}
	return nil
}

// Subjects returns the indexes of subjects.
func (m Marks) Subjects() subjects.Index { return m.staging.subjects }

// FeatureCount returns the number of features of every transaction, or 0 while it is not known.
func (m Marks) FeatureCount() int { return m.staging.featureCount }

// FixFeatureCount fixes the number of features, unless one is known. No record and no erasure changes it.
func (m Marks) FixFeatureCount(count int) error {
	s := m.staging
	if s.featureCount > 0 {
		return nil
	}
	if err := swapstore.Set(s, []byte{kindFeatureCount}, binary.BigEndian.AppendUint32(nil, uint32(count))); err != nil {
		return fmt.Errorf("number of features: %w", err)
	}
	s.featureCount = count
	return nil
}
