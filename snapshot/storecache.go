package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/hashicorp/golang-lru/v2/simplelru"

	"lethe"
	"lethe/internal/swapstore"
)

const storePrefix = "t"

// StagingFolder and TimestepFolder are the names of folders below that of a Store:
// of what is open, and of a closed timestep.
const StagingFolder = stagingName

// TimestepFolder is described with StagingFolder.
func TimestepFolder(t lethe.Timestep) string { return storeName(t) }

// storeName is the name of a closed timestep's folder.
func storeName(t lethe.Timestep) string { return fmt.Sprintf("%s%06d", storePrefix, t) }

// parseStoreName reads what storeName wrote, and nothing else: the folder may
// hold what is not ours.
func parseStoreName(name string) (lethe.Timestep, bool) {
	n, err := strconv.ParseInt(strings.TrimPrefix(name, storePrefix), 10, 64)
	t := lethe.Timestep(n)
	return t, err == nil && storeName(t) == name
}

// storeCache opens the stores of closed timesteps on demand and holds a few
// open. When there are too many, it closes the one that was used longest ago.
type storeCache struct {
	fs       vfs.FS
	dir      string
	capacity int
	open     *simplelru.LRU[lethe.Timestep, graphStore]
}

// newStoreCache returns a cache of at least one store.
func newStoreCache(fs vfs.FS, dir string, capacity int) (*storeCache, error) {
	open, err := simplelru.NewLRU[lethe.Timestep, graphStore](capacity, nil)
	if err != nil {
		return nil, fmt.Errorf("cache of %d stores: %w", capacity, err)
	}
	return &storeCache{fs: fs, dir: dir, capacity: capacity, open: open}, nil
}

func (c *storeCache) path(t lethe.Timestep) string {
	return c.fs.PathJoin(c.dir, storeName(t))
}

// get returns the timestep's store, which is open until the next call of a
// method. It creates a store that is not there.
func (c *storeCache) get(t lethe.Timestep) (graphStore, error) {
	if store, found := c.open.Get(t); found {
		return store, nil
	}
	opened, err := swapstore.Open(c.fs, c.path(t), graphFormat())
	if err != nil {
		return graphStore{}, fmt.Errorf("timestep %d: %w", t, err)
	}
	if c.open.Len() == c.capacity {
		oldest, _, _ := c.open.GetOldest()
		if err := c.close(oldest); err != nil {
			return graphStore{}, errors.Join(err, opened.Close())
		}
	}
	store := graphStore{opened, t}
	c.open.Add(t, store)
	return store, nil
}

// create puts a snapshot without labels into a store of its own, in place of
// whatever a crash left there.
func (c *storeCache) create(ctx context.Context, g *lethe.Snapshot) error {
	if err := c.remove(g.Timestep); err != nil {
		return err
	}
	return c.fill(ctx, g)
}

// fill puts a snapshot without labels into a store of its own, which is not there yet, and does not open it. Any
// goroutine may call it.
func (c *storeCache) fill(ctx context.Context, g *lethe.Snapshot) error {
	err := swapstore.Fill(ctx, c.fs, c.path(g.Timestep), graphFormat(), func(dst swapstore.Writer) error {
		m := metaOf(g)
		return m.fill(dst, g, nil)
	})
	if err != nil {
		return fmt.Errorf("timestep %d: %w", g.Timestep, err)
	}
	return nil
}

// close closes the timestep's store if it is open. After a failed write that
// also is the way to get it back into order: get opens it afresh.
func (c *storeCache) close(t lethe.Timestep) error {
	store, found := c.open.Peek(t)
	if !found {
		return nil
	}
	c.open.Remove(t)
	if err := store.Close(); err != nil {
		return fmt.Errorf("timestep %d: %w", t, err)
	}
	return nil
}

// remove unlinks the timestep's store.
func (c *storeCache) remove(t lethe.Timestep) error {
	if err := c.close(t); err != nil {
		return err
	}
	if err := swapstore.Remove(c.fs, c.path(t)); err != nil {
		return fmt.Errorf("timestep %d: %w", t, err)
	}
	return nil
}

// removeUnlisted unlinks the stores of timesteps that are not listed: a crash
// left them behind.
func (c *storeCache) removeUnlisted(listed func(lethe.Timestep) bool) error {
	names, err := c.fs.List(c.dir)
	if err != nil {
		return fmt.Errorf("list timestep stores: %w", err)
	}
	for _, name := range names {
		t, ok := parseStoreName(c.fs.PathBase(name))
		if !ok || listed(t) {
			continue
		}
		if err := c.remove(t); err != nil {
			return fmt.Errorf("remove left-over store: %w", err)
		}
	}
	return nil
}

func (c *storeCache) closeAll() error {
	var errs []error
	for _, t := range c.open.Keys() {
		errs = append(errs, c.close(t))
	}
	return errors.Join(errs...)
}

// folders lists what lies in the store's folder: whether staging does, and the stores of
// timesteps.
func folders(files vfs.FS, dir string) (staging bool, stores []lethe.Timestep, err error) {
	names, err := files.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil, nil
	}
	for _, name := range names {
		base := files.PathBase(name)
		staging = staging || base == stagingName
		if t, ok := parseStoreName(base); ok {
			stores = append(stores, t)
		}
	}
	return staging, stores, err
}

// requireStaging refuses a folder of which staging was removed: the other stores would
// be taken for left-overs, and what was erased would be taken again.
func requireStaging(files vfs.FS, dir string) error {
	staging, stores, err := folders(files, dir)
	if err == nil && !staging && len(stores) > 0 {
		err = fmt.Errorf("%w: %s holds the stores of %d timesteps, but no %s (put the folder back from a copy)",
			ErrCorrupt, dir, len(stores), stagingName)
	}
	return err
}

// requireStores refuses a folder in which a closed timestep has no store, or one of another format.
func requireStores(s *staging, files vfs.FS, dir string) error {
	_, stores, err := folders(files, dir)
	if err != nil {
		return err
	}
	for _, i := range s.timesteps() {
		if i.State == lethe.Open {
			continue // what a crash has left of it goes
		}
		name := storeName(i.Timestep)
		if !slices.Contains(stores, i.Timestep) {
			return fmt.Errorf("%w: %s holds no %s (put the folder back from a copy)", ErrCorrupt, dir, name)
		}
		if err := swapstore.CheckFormat(files, files.PathJoin(dir, name), graphFormat()); err != nil {
			return err
		}
	}
	return nil
}
