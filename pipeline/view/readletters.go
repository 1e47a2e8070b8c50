package view

import (
	"bytes"
	"encoding/json"
	"errors"
	"time"

	"lethe/ingest"
	"lethe/ingest/bus"
)

// Letters selects dead letters in order of place.
type Letters struct {
	// Reason and Topic select any if empty.
	Reason ingest.Reason
	Topic  bus.Topic
	// After is where the previous page ended, or nil.
	After []byte
	Limit int
}

// Letters returns a page and where it ended, nil for the last. Errors: ErrCursor, the store's.
func (r *Reader) Letters(q Letters) (list []Letter, next []byte, err error) {
	prefix := []byte(letterPrefix)
	if q.Reason != "" {
		prefix = append(append([]byte(letterReasonPrefix), q.Reason...), 0)
	}
	if q.Topic != "" {
		prefix = append(append(prefix, q.Topic...), 0)
	}
	from := prefix
	if q.After != nil {
		if from = append(bytes.Clone(q.After), 0); !bytes.HasPrefix(from, prefix) {
			return nil, nil, ErrCursor
		}
	}
	var keys [][]byte
	err = r.store.ScanFrom(prefix, from, func(key, _ []byte) error {
		if len(keys) == q.Limit {
			next = keys[len(keys)-1]
			return errEnough
		}
		keys = append(keys, bytes.Clone(key))
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, nil, err
	}
	places := make([][]byte, len(keys))
	for i, key := range keys {
		if places[i] = key; q.Reason != "" {
			places[i], _ = keysOfLetter(key[len(letterReasonPrefix):])
		}
	}
	list, err = r.lettersAt(places)
	return list, next, err
}

// lettersAt returns the dead letters under some keys.
func (r *Reader) lettersAt(places [][]byte) ([]Letter, error) {
	list, marks := []Letter{}, [][]byte{}
	found, err := r.store.Lookup(places)
	for _, f := range found {
		var letter Letter
		if f.Found && err == nil {
			err = json.Unmarshal(f.Value, &letter)
			list = append(list, letter)
			marks = append(marks, []byte(letterMarkPrefix+ingest.MarkOf(letter.Place)))
		}
	}
	if err != nil {
		return nil, err
	}
	found, err = r.store.Lookup(marks)
	for i, f := range found {
		if at := new(time.Time); f.Found && err == nil {
			err = at.UnmarshalText(f.Value)
			list[i].Replayed = at
		}
	}
	return list, err
}

// Letter returns a record's dead letter, or nil.
func (r *Reader) Letter(topic bus.Topic, partition int, offset int64) (*Letter, error) {
	place, _ := keysOfLetter(rankOf(Letter{Topic: topic, Partition: partition, Offset: offset}))
	list, err := r.lettersAt([][]byte{place})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[0], nil
}
