package snapshot

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"lethe"
	"lethe/internal/swapstore"
)

const storePrefix = "t"

// storeName is the name of a closed timestep's folder.
func storeName(t lethe.Timestep) string { return fmt.Sprintf("%s%06d", storePrefix, t) }

// parseStoreName reads what storeName wrote, and nothing else: the folder may
// hold what is not ours.
func parseStoreName(name string) (lethe.Timestep, bool) {
	n, err := strconv.ParseInt(strings.TrimPrefix(name, storePrefix), 10, 64)
	t := lethe.Timestep(n)
	return t, err == nil && storeName(t) == name
}

// shelf opens the stores of closed timesteps on demand and holds a few open.
type shelf struct {
	dir      string
	options  swapstore.Options
	capacity int
	// open is ordered from the longest unused to the last used.
	open []shelved
}

type shelved struct {
	timestep lethe.Timestep
	store    *swapstore.Store
}

func newShelf(dir string, o swapstore.Options, capacity int) *shelf {
	return &shelf{dir: dir, options: o, capacity: capacity}
}

func (h *shelf) path(t lethe.Timestep) string {
	return h.fs().PathJoin(h.dir, storeName(t))
}

func (h *shelf) fs() vfs.FS { return h.options.EnsureDefaults().FS }

// get returns the timestep's store, which is open until the next call of a
// method. It creates a store that is not there.
func (h *shelf) get(t lethe.Timestep) (*swapstore.Store, error) {
	if i := h.find(t); i >= 0 {
		found := h.open[i]
		h.open = append(slices.Delete(h.open, i, i+1), found)
		return found.store, nil
	}
	for len(h.open) >= h.capacity {
		if err := h.put(h.open[0].timestep); err != nil {
			return nil, err
		}
	}
	store, err := swapstore.Open(h.path(t), h.options)
	if err != nil {
		return nil, fmt.Errorf("timestep %d: %w", t, err)
	}
	h.open = append(h.open, shelved{t, store})
	return store, nil
}

func (h *shelf) find(t lethe.Timestep) int {
	return slices.IndexFunc(h.open, func(s shelved) bool { return s.timestep == t })
}

// put closes the timestep's store if it is open. After a failed write that
// also is the way to get it back into order: get opens it afresh.
func (h *shelf) put(t lethe.Timestep) error {
	i := h.find(t)
	if i < 0 {
		return nil
	}
	store := h.open[i].store
	h.open = slices.Delete(h.open, i, i+1)
	if err := store.Close(); err != nil {
		return fmt.Errorf("timestep %d: %w", t, err)
	}
	return nil
}

// remove unlinks the timestep's store.
func (h *shelf) remove(t lethe.Timestep) error {
	if err := h.put(t); err != nil {
		return err
	}
	if err := swapstore.Remove(h.path(t), h.options); err != nil {
		return fmt.Errorf("timestep %d: %w", t, err)
	}
	return nil
}

func (h *shelf) closeAll() error {
	var errs []error
	for len(h.open) > 0 {
		errs = append(errs, h.put(h.open[0].timestep))
	}
	return errors.Join(errs...)
}
