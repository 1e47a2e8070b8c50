package view

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"time"

	"lethe/ingest"
	"lethe/ingest/bus"
	"lethe/internal/swapstore"
	"lethe/pipeline/deadletters"
)

// Letter is a dead letter without its record's content.
type Letter struct {
	// Place identifies the record.
	Place       string             `json:"place"`
	Topic       bus.Topic          `json:"topic"`
	Partition   int                `json:"partition"`
	Offset      int64              `json:"offset"`
	Reason      ingest.Reason      `json:"reason"`
	Detail      string             `json:"detail"`
	Disposition ingest.Disposition `json:"disposition"`
	// Version is the program's that refused it.
	Version string `json:"version"`
	// Written is the record's time, Replayed when it was sent again.
	Written  time.Time  `json:"written_at"`
	Replayed *time.Time `json:"replayed_at"`
	// Waits means that the dead letter is deleted when the missing record arrives.
	Waits bool `json:"waits"`
	// Refused is why it cannot be replayed, or empty.
	Refused    string `json:"not_replayable"`
	ValueBytes int    `json:"value_bytes"`
	// Form is the record's structure.
	Form string `json:"form"`
}

// letterOf removes the content of a dead letter.
func letterOf(l deadletters.Letter) Letter {
	out := Letter{
		Place: l.Place(), Topic: l.Topic, Partition: l.Record.Partition, Offset: l.Record.Offset,
		Reason: l.Refusal.Reason, Detail: l.Refusal.Detail, Disposition: l.Disposition, Version: l.Version,
		Written: l.Record.Time.UTC(), Waits: l.Waits, ValueBytes: len(l.Record.Value),
		Form: deadletters.Redacted(l.Record.Value),
	}
	if !l.Replayed.IsZero() {
		at := l.Replayed.UTC()
		out.Replayed = &at
	}
	// The time does not matter.
	if _, err := l.Again(time.Time{}); err != nil {
		out.Refused = err.Error()
	}
	return out
}

// rankOf is a sort key: reason, 0, topic, partition and offset.
func rankOf(l Letter) []byte {
	key := append([]byte(l.Reason), 0)
	key = append(append(key, l.Topic...), 0)
	key = binary.BigEndian.AppendUint32(key, uint32(l.Partition))
	return binary.BigEndian.AppendUint64(key, uint64(l.Offset))
}

// keysOfLetter are a letter's keys by place and by reason.
func keysOfLetter(rank []byte) (place, reason []byte) {
	_, at, _ := bytes.Cut(rank, []byte{0})
	return append([]byte(letterPrefix), at...), append([]byte(letterReasonPrefix), rank...)
}

// takeLetters stores or removes dead letters. All are read at every start, to find those gone meanwhile.
func (l *logic) takeLetters(batch bus.Batch) error {
	records := newestOfAll(batch.Records)
	names := make([][]byte, len(records))
	for i, rec := range records {
		// The key is the record's own.
		hash := l.o.Secret.Hash("view-letter", rec.Key)
		names[i] = append(binary.BigEndian.AppendUint32([]byte(letterNamePrefix), uint32(rec.Partition)), hash[:]...)
	}
	err := l.store.Apply(func(w swapstore.Writer) error {
		for i, rec := range records {
			if err := takeLetter(l.store, w, names[i], rec); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(records) > 0 {
		l.feed.notify(DeadLetters)
	}
	return l.sweep.seen(l.store, batch, names)
}

// takeLetter stores or removes a dead letter or a mark.
func takeLetter(store swapstore.Reader, w swapstore.Writer, name []byte, rec ingest.Record) error {
	rank, found, err := store.Get(name)
	if err != nil {
		return err
	}
	if found {
		forgetLetter(w, name, rank)
	}
	if rec.Tombstone() {
		return nil
	}
	if mark, at, is := ingest.ReadMark(rec); is {
		text, err := at.MarshalText()
		w.Set(name, append([]byte{0}, mark...))
		w.Set([]byte(letterMarkPrefix+mark), text)
		return err
	}
	letter, err := deadletters.Read(rec)
	if err != nil {
		return nil //nolint:nilerr // records of other kinds are ignored
	}
	shown := letterOf(letter)
	rank = rankOf(shown)
	place, reason := keysOfLetter(rank)
	w.Set(name, rank)
	w.Set(reason, nil)
	return setJSON(w, place, shown)
}

// forgetLetter removes a dead letter, or a mark, which has no reason.
func forgetLetter(w swapstore.Writer, name, rank []byte) {
	w.Delete(name)
	if mark, is := bytes.CutPrefix(rank, []byte{0}); is {
		w.Delete(append([]byte(letterMarkPrefix), mark...))
		return
	}
	place, reason := keysOfLetter(rank)
	w.Delete(place)
	w.Delete(reason)
}

// sweep finds letters that are gone: stored, and not read again up to the end of their partition.
type sweep map[int]map[string]bool

// seen records a batch, and removes letters that are gone at the first end.
func (s sweep) seen(store *swapstore.Store, batch bus.Batch, names [][]byte) error {
	p := batch.Source.Partition
	came, begun := s[p]
	switch {
	case !begun:
		came = make(map[string]bool)
		s[p] = came
	case came == nil:
		return nil // swept
	}
	for _, name := range names {
		came[string(name)] = true
	}
	if batch.Next < batch.End {
		return nil
	}
	s[p] = nil
	gone := make(map[string][]byte)
	prefix := binary.BigEndian.AppendUint32([]byte(letterNamePrefix), uint32(p))
	err := store.Scan(prefix, func(name, rank []byte) error {
		if !came[string(name)] {
			gone[string(name)] = bytes.Clone(rank)
		}
		return nil
	})
	if err != nil || len(gone) == 0 {
		return err
	}
	return store.Apply(func(w swapstore.Writer) error {
		for name, rank := range gone {
			forgetLetter(w, []byte(name), rank)
		}
		return nil
	})
}

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
