// Package memorykv is the store of a ledger in memory, for tests, whose writes can be made to fail.
package memorykv

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"

	"lethe/deletions/internal/record"
)

// ErrPut is the failure that a test asked for.
var ErrPut = errors.New("disk is full")

// KV is durable as far as a test can see: the rows of a failed Put may be stored or not, as KeepFailed says.
type KV struct {
	Rows map[string][]byte
	// Puts counts the writes; the write of number FailPut fails.
	Puts, FailPut int
	KeepFailed    bool
}

// New returns an empty store.
func New() *KV { return &KV{Rows: map[string][]byte{}} }

// Scan implements deletions.KV.
func (kv *KV) Scan(prefix []byte, fn func(key, value []byte) error) error {
	for _, k := range slices.Sorted(maps.Keys(kv.Rows)) {
		if !strings.HasPrefix(k, string(prefix)) {
			continue
		}
		if err := fn([]byte(k), kv.Rows[k]); err != nil {
			return err
		}
	}
	return nil
}

// Put implements deletions.KV.
func (kv *KV) Put(rows ...record.Row) error {
	kv.Puts++
	failed := kv.Puts == kv.FailPut
	if !failed || kv.KeepFailed {
		for _, row := range rows {
			kv.Rows[string(row.Key)] = bytes.Clone(row.Value)
		}
	}
	if failed {
		return ErrPut
	}
	return nil
}
