package view

import (
	"bytes"
	"errors"

	"golang.org/x/mod/sumdb/tlog"

	"lethe/deletions"
	"lethe/ingest/bus"
	"lethe/internal/swapstore"
	"lethe/pipeline/wire"
)

// takeAsItIs stores values under their keys: receipts, and the log's leaves and checkpoint. They are not personal.
func (l *logic) takeAsItIs(batch bus.Batch, prefix string, kind Kind) error {
	records := newest(batch.Records)
	if len(records) == 0 {
		return nil
	}
	replaced := false
	err := l.applyRecord(batch.Source, batch.Next, func(w swapstore.Writer) error {
		for _, rec := range records {
			key := append([]byte(prefix), rec.Key...)
			before, found, err := l.store.Get(key)
			if err != nil {
				return err
			}
			replaced = replaced || found && string(rec.Key) != checkpointName && !bytes.Equal(before, rec.Value)
			setOrDelete(w, key, rec.Value, rec.Tombstone())
		}
		if kind == Log {
			return storeLearnings(l.store, w, records)
		}
		return nil
	})
	if err == nil && kind == Log && replaced {
		l.models.forget() // a fenced leader wrote a leaf late, or the leaf was corrected
	}
	if err == nil {
		l.feed.notify(kind)
	}
	return err
}

// Receipt returns a request's signed receipt, or nil.
func (r *Reader) Receipt(requestID string) ([]byte, error) {
	if !deletions.ValidRequestID(requestID) {
		return nil, nil
	}
	value, found, err := r.store.Get([]byte(receiptPrefix + requestID))
	if err != nil || !found {
		return nil, err
	}
	return value, nil
}

// checkpointName is the checkpoint's key among numbered leaves.
const checkpointName = "checkpoint"

// Checkpoint returns the log's newest signed note, or "".
func (r *Reader) Checkpoint() (string, error) {
	value, _, err := r.store.Get([]byte(logPrefix + checkpointName))
	return string(value), err
}

// Leaves returns at most limit leaves behind the first n.
func (r *Reader) Leaves(n int64, limit int) (list [][]byte, err error) {
	return leavesOf(r.store, n, limit)
}

func leavesOf(store *swapstore.Store, n int64, limit int) (list [][]byte, err error) {
	err = store.ScanFrom([]byte(logPrefix), leafKey(n), func(key, value []byte) error {
		if len(list) == limit || !bytes.Equal(key, leafKey(n+int64(len(list)))) {
			return errEnough // the checkpoint, or a leaf that has not come
		}
		list = append(list, bytes.Clone(value))
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return list, err
}

// Prove returns a leaf and its proof for a size; found is false until the view has read so far.
func (r *Reader) Prove(index, size int64) (leaf []byte, proof tlog.RecordProof, found bool, err error) {
	unlock, err := r.models.follow(r.store)
	defer unlock()
	if err != nil || r.models.tree.Size() < size || index >= size {
		return nil, nil, false, err
	}
	list, err := r.Leaves(index, 1)
	if err != nil || len(list) == 0 {
		return nil, nil, false, err
	}
	proof, err = tlog.ProveRecord(size, index, &r.models.tree)
	return list[0], proof, err == nil, err
}

// takeStatuses stores new statuses. All are read at every start.
func (l *logic) takeStatuses(notices []wire.Notice) error {
	fresh := make(map[string][]byte)
	index := make(map[string]*deletions.Status)
	for _, n := range notices {
		if n.Status == nil {
			continue
		}
		value, err := n.Status.Encode()
		if err != nil {
			return err
		}
		key := statusPrefix + n.Status.Key()
		known, found := fresh[key]
		if !found {
			if known, found, err = l.store.Get([]byte(key)); err != nil {
				return err
			}
		}
		if bytes.Equal(known, value) {
			continue
		}
		index[key] = n.Status
		// An older one was written late by a fenced leader, or repeated.
		if before, err := deletions.DecodeStatus(known); found && err == nil && before.UpdatedAt.After(n.Status.UpdatedAt) {
			continue
		}
		fresh[key] = value
	}
	if len(fresh)+len(index) == 0 {
		return nil
	}
	err := l.store.Apply(func(w swapstore.Writer) error {
		if err := l.indexAll(w, index); err != nil {
			return err
		}
		for key, value := range fresh {
			w.Set([]byte(key), value)
		}
		return nil
	})
	if err == nil {
		l.feed.notify(Erasures)
	}
	return err
}
