package snapshot

import (
	"fmt"
	"slices"

	"lethe"
	"lethe/internal/swapstore"
)

// Marks is a small area for the owner's own bookkeeping, beside the offsets.
// Erase does not look into it: keys and values must hold no id, feature or other
// content of a record. It may be used from any goroutine; Put waits while Erase writes
// the files anew. What is beside timesteps and not of the owner (FixFeatureCount, HasContents, Carry)
// is the goroutine's alone that uses the Store.
type Marks struct{ staging *staging }

// Marks returns the owner's area.
func (s *Store) Marks() Marks { return Marks{s.staging} }

func markKey(key []byte) []byte { return append([]byte{kindMark}, key...) }

// Get returns a copy of the value under a key and whether there is one.
func (m Marks) Get(key []byte) (value []byte, found bool, err error) {
	return m.staging.Get(markKey(key))
}

// Watermarks returns a copy of the watermarks of a stream, by partition. It is for the goroutine that uses the Store.
func (m Marks) Watermarks(stream Stream) []lethe.Timestep {
	return slices.Clone(m.staging.watermarks[stream])
}

// Put stores a value under a key. It is durable when it returns.
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

// PutUnsynced stores marks that are durable once anything is that is stored later.
func (m Marks) PutUnsynced(marks ...Mark) error {
	m.staging.epoch++
	return m.put(m.staging.ApplyUnsynced, marks)
}

func (m Marks) put(apply func(func(swapstore.Writer) error) error, marks []Mark) error {
	err := apply(func(w swapstore.Writer) error {
		for _, mark := range marks {
			if err := w.Set(markKey(mark.Key), mark.Value); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("put mark: %w", err)
	}
	return nil
}
