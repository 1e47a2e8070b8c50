package score

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/canonical"
	"lethe/internal/mixedstore"
	"lethe/internal/swapstore"
	"lethe/internal/timestepkey"
	"lethe/trainer"
)

// openStore opens the store in the role's folder.
func openStore(fs vfs.FS, dir string) (*mixedstore.Store, error) {
	old := swapstore.Format{Kind: storeFormat().Kind, Version: 1}
	if err := mixedstore.Convert(fs, stateDir(dir), old, storeFormat(), convert, filePrefixes()...); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	store, err := mixedstore.Open(fs, stateDir(dir), storeFormat(), filePrefixes()...)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	return store, nil
}

// The first version had the served models under e/shard, other models without
// their digest, and summaries of quality under q/.
const (
	oldServedPrefix  = "e/"
	oldQualityPrefix = "q/"
)

// convert copies a store of the first version.
func convert(old swapstore.Reader, w swapstore.Writer) error {
	served, err := convertServed(old, w)
	if err != nil {
		return err
	}
	if len(served) > 0 {
		if err := w.Set([]byte(servedKey), encodeServed(served)); err != nil {
			return err
		}
	}
	return old.Scan(nil, func(key, value []byte) error {
		switch {
		case bytes.HasPrefix(key, []byte(oldServedPrefix)), bytes.HasPrefix(key, []byte(oldQualityPrefix)),
			string(key) == servedKey && len(served) > 0:
			return nil
		case !bytes.HasPrefix(key, []byte(modelPrefix)):
			return w.Set(key, value)
		}
		t, shard, err := timestepkey.Cut(modelPrefix, key)
		if err != nil {
			return err
		}
		m := model{candidate{t, lethe.ShardID(binary.BigEndian.Uint32(shard))}, canonical.DigestOf(value)}
		if err := w.Set(m.candidate.key(), m.digest[:]); err != nil {
			return err
		}
		return w.Set(m.key(), value)
	})
}

// convertServed copies the served models and returns where, by shard.
func convertServed(old swapstore.Reader, w swapstore.Writer) (served []model, err error) {
	err = old.Scan([]byte(oldServedPrefix), func(_, value []byte) error {
		c, err := trainer.DecodeCheckpoint(value)
		if err != nil {
			return err
		}
		m := model{candidate{c.Timestep, lethe.ShardID(len(served))}, canonical.DigestOf(value)}
		served = append(served, m)
		return w.Set(m.key(), value)
	})
	return served, err
}
