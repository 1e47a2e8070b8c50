package closed

import (
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/hashicorp/golang-lru/v2/simplelru"

	"lethe"
	"lethe/internal/swapstore"
)

// Graphs opens the stores of closed timesteps on demand, and closes the least recently used one
// when too many are open.
type Graphs struct {
	fs       vfs.FS
	dir      string
	capacity int
	open     *simplelru.LRU[lethe.Timestep, Graph]
}

// New returns the stores of a folder, of which at most capacity are open; capacity is at least 1.
func New(fs vfs.FS, dir string, capacity int) (*Graphs, error) {
	open, err := simplelru.NewLRU[lethe.Timestep, Graph](capacity, nil)
	if err != nil {
		return nil, fmt.Errorf("cache of %d stores: %w", capacity, err)
	}
	return &Graphs{fs: fs, dir: dir, capacity: capacity, open: open}, nil
}

// Capacity returns how many stores may be open at a time.
func (c *Graphs) Capacity() int { return c.capacity }

func (c *Graphs) path(t lethe.Timestep) string { return c.fs.PathJoin(c.dir, FolderName(t)) }

// Get returns the timestep's store, which stays open until the next method call. It creates a
// store that is absent.
func (c *Graphs) Get(t lethe.Timestep) (Graph, error) {
	if store, found := c.open.Get(t); found {
		return store, nil
	}
	opened, err := swapstore.Open(c.fs, c.path(t), Format())
	if err != nil {
		return Graph{}, fmt.Errorf("timestep %d: %w", t, err)
	}
	if c.open.Len() == c.capacity {
		oldest, _, _ := c.open.GetOldest()
		if err := c.Close(oldest); err != nil {
			return Graph{}, errors.Join(err, opened.Close())
		}
	}
	store := Graph{opened, t}
	c.open.Add(t, store)
	return store, nil
}

// Create writes a snapshot without labels into a new store, replacing the remains of a crash.
func (c *Graphs) Create(ctx context.Context, g *lethe.Snapshot) error {
	if err := c.Remove(g.Timestep); err != nil {
		return err
	}
	return c.Fill(ctx, g)
}

// Fill writes a snapshot without labels into a new store, which must be absent, and does not open it. Any goroutine
// may call it.
func (c *Graphs) Fill(ctx context.Context, g *lethe.Snapshot) error {
	err := swapstore.Fill(ctx, c.fs, c.path(g.Timestep), Format(), func(dst swapstore.Writer) error {
		d := describe(g)
		d.fill(dst, g, nil)
		return nil
	})
	if err != nil {
		return fmt.Errorf("timestep %d: %w", g.Timestep, err)
	}
	return nil
}

// Close closes the timestep's store if it is open. After a failed write it must be called, so
// that Get reopens the store.
func (c *Graphs) Close(t lethe.Timestep) error {
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

// CloseAll closes all stores.
func (c *Graphs) CloseAll() error {
	var errs []error
	for _, t := range c.open.Keys() {
		errs = append(errs, c.Close(t))
	}
	return errors.Join(errs...)
}

// Remove unlinks the timestep's store.
func (c *Graphs) Remove(t lethe.Timestep) error {
	if err := c.Close(t); err != nil {
		return err
	}
	if err := swapstore.Remove(c.fs, c.path(t)); err != nil {
		return fmt.Errorf("timestep %d: %w", t, err)
	}
	return nil
}

// RemoveUnlisted unlinks the stores of timesteps that are not listed: a crash left them behind.
func (c *Graphs) RemoveUnlisted(listed func(lethe.Timestep) bool) error {
	stores, err := Folders(c.fs, c.dir)
	if err != nil {
		return fmt.Errorf("list timestep stores: %w", err)
	}
	for _, t := range stores {
		if listed(t) {
			continue
		}
		if err := c.Remove(t); err != nil {
			return fmt.Errorf("remove left-over store: %w", err)
		}
	}
	return nil
}
