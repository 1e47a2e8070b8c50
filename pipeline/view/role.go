package view

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/deletions/scan"
	"lethe/internal/normalise"
	"lethe/internal/swapstore"
	"lethe/pipeline/role"
)

// Options configure the role.
type Options struct {
	// Dir is the role's folder.
	Dir    string
	Secret lethe.Secret
	// Names is the rule of ids in queries.
	Names normalise.Rule
	// Instance is the data directory's identity.
	Instance string
	// Pacer may be nil.
	Pacer *scan.Pacer
	role.Surroundings
}

// tick is how often quality is measured of timesteps with predictions on their way.
const tick = time.Second

const (
	stateFolder   = "state"
	formatKind    = "view"
	formatVersion = 1
)

func storeFormat() swapstore.Format {
	return swapstore.Format{Kind: formatKind, Version: formatVersion}
}

// storeSize suits one store per process with single lookups.
func storeSize() swapstore.Size {
	const cacheBytes, memTableBytes, filterBits = 32 << 20, 8 << 20, 10
	return swapstore.Size{CacheBytes: cacheBytes, MemTableBytes: memTableBytes, FilterBits: filterBits}
}

func openStore(fs vfs.FS, dir string) (*swapstore.Store, error) {
	store, err := swapstore.OpenSized(fs, filepath.Join(dir, stateFolder), storeFormat(), storeSize())
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	return store, nil
}

// New opens the store and returns the role and its reader. Closing the role closes the store.
func New(o Options) (*role.Follower, *Reader, error) {
	store, err := openStore(o.FS, o.Dir)
	if err != nil {
		return nil, nil, fmt.Errorf("view role: %w", err)
	}
	l, err := newLogic(o, store)
	if err != nil {
		return nil, nil, fmt.Errorf("view role: %w", errors.Join(err, store.Close()))
	}
	o.Tick = cmp.Or(o.Tick, tick)
	reader := &Reader{store: store, secret: o.Secret, names: o.Names, hidden: l.hidden, feed: l.feed, models: l.models}
	return role.Follow(roleName, l, o.Surroundings), reader, nil
}
