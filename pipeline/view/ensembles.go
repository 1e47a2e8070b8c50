package view

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"lethe"
	"lethe/deletions/translog"
	"lethe/internal/swapstore"
)

// models are the newest models of every group, as the transparency log commits to them, and the tree
// over the log. It grows, so that each leaf is read once: by the role when it comes, and all of
// them when the role begins, so that nobody who asks waits for that. Where a leaf is replaced, all are read again.
type models struct {
	mu   sync.Mutex
	read int64
	tree translog.Tree
	// of are the models of a group, by the timestep that they learnt through.
	of map[group]map[lethe.Timestep]translog.Checkpoint
}

// group is one of a component's. The model above the components has the place behind the last one.
type group struct{ component, number int }

// mark is in every leaf of a model.
const mark = `"kind":"checkpoint"`

// follow reads the leaves that have come since.
func (m *models) follow(store *swapstore.Store) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.readOn(store)
}

// forget has all leaves be read again.
func (m *models) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.read, m.tree, m.of = 0, translog.Tree{}, nil
}

func (m *models) readOn(store *swapstore.Store) error {
	const atOnce = 4096
	if m.of == nil {
		m.of = make(map[group]map[lethe.Timestep]translog.Checkpoint)
	}
	for {
		leaves, err := leavesOf(store, m.read, atOnce)
		if err != nil || len(leaves) == 0 {
			return err
		}
		if err := m.tree.Append(leaves...); err != nil {
			return err
		}
		for _, text := range leaves {
			m.read++
			leaf, found, err := modelIn(text)
			if err != nil {
				return fmt.Errorf("%w: leaf %d", swapstore.ErrCorrupt, m.read-1)
			}
			if !found {
				continue
			}
			g := group{leaf.Component, leaf.Group}
			if m.of[g] == nil {
				m.of[g] = make(map[lethe.Timestep]translog.Checkpoint)
			}
			m.of[g][leaf.Timestep] = leaf
		}
	}
}

// through returns a group's model after a timestep: the newest one that learnt no further.
func through(list map[lethe.Timestep]translog.Checkpoint, t lethe.Timestep) (out translog.Checkpoint, found bool) {
	for at, c := range list {
		if at <= t && (!found || at > out.Timestep) {
			out, found = c, true
		}
	}
	return out, found
}

// Ensemble is what is served once a timestep was learnt from.
type Ensemble struct {
	Through lethe.Timestep `json:"through"`
	// Models are all of it, Trained those that learnt from this timestep, and Replaced those among
	// them that were trained anew since.
	Models   int `json:"models"`
	Trained  int `json:"trained"`
	Replaced int `json:"replaced"`
	// Learnt is when the log got the newest model that learnt from this timestep, AfterSeconds how long
	// after the timestep's newest slice the last of those came that were the first of their groups. Either
	// is nil where it is not known, as of timesteps whose slices were replaced.
	Learnt       *time.Time `json:"learnt"`
	AfterSeconds *float64   `json:"learnt_after_seconds"`
}

// modelIn reads a leaf of the log; it is not found if the leaf is of something else than a model.
func modelIn(leaf []byte) (c translog.Checkpoint, found bool, err error) {
	if !bytes.Contains(leaf, []byte(mark)) {
		return c, false, nil
	}
	var document struct {
		Body translog.Checkpoint `json:"body"`
	}
	err = json.Unmarshal(leaf, &document)
	return document.Body, err == nil, err
}

// Ensembles returns a page of ensembles, the newest first, those before a timestep, and whether more
// follow.
func (r *Reader) Ensembles(before lethe.Timestep, limit int) (list []Ensemble, more bool, err error) {
	r.models.mu.Lock()
	defer r.models.mu.Unlock()
	if err := r.models.readOn(r.store); err != nil {
		return nil, false, err
	}
	known := make(map[lethe.Timestep]bool)
	for _, of := range r.models.of {
		for t := range of {
			known[t] = known[t] || t < before
		}
	}
	maps.DeleteFunc(known, func(_ lethe.Timestep, wanted bool) bool { return !wanted })
	times := descending(known)
	if more = len(times) > limit; more {
		times = times[:limit]
	}
	list = []Ensemble{}
	for _, t := range times {
		e := Ensemble{Through: t}
		for _, of := range r.models.of {
			c, found := through(of, t)
			if !found {
				continue
			}
			e.Models++
			if c.Timestep == t {
				e.Trained++
				if !c.Replaces.IsZero() {
					e.Replaced++
				}
			}
		}
		if err := e.date(r.store); err != nil {
			return nil, false, err
		}
		list = append(list, e)
	}
	return list, more, nil
}

// GroupModel is the newest model of a group.
type GroupModel struct {
	Component int `json:"component"`
	Group     int `json:"group"`
	// Timestep is the last one that it learnt from.
	Timestep lethe.Timestep `json:"timestep"`
	// Digest is that of its checkpoint, Lineage the chain of slice digests that it was trained on.
	Digest  lethe.Digest `json:"digest"`
	Lineage lethe.Digest `json:"lineage"`
	// Replaced says that it was trained anew after something it had learnt from was replaced.
	Replaced bool `json:"replaced"`
}

// Groups returns the models of the ensemble that learnt through a timestep, the newest one for nil, by
// component and group, and that timestep.
func (r *Reader) Groups(asked *lethe.Timestep) (at lethe.Timestep, list []GroupModel, err error) {
	r.models.mu.Lock()
	defer r.models.mu.Unlock()
	if err := r.models.readOn(r.store); err != nil {
		return 0, nil, err
	}
	at = math.MaxInt64
	if asked != nil {
		at = *asked
	}
	newest := lethe.NoTimestep
	for g, of := range r.models.of {
		if c, found := through(of, at); found {
			newest = max(newest, c.Timestep)
			list = append(list, GroupModel{g.component, g.number, c.Timestep, c.Digest, c.Lineage, !c.Replaces.IsZero()})
		}
	}
	slices.SortFunc(list, func(a, b GroupModel) int {
		return cmp.Or(cmp.Compare(a.Component, b.Component), cmp.Compare(a.Group, b.Group))
	})
	return newest, list, nil
}

// Change is a model that is another in one ensemble than in another.
type Change struct {
	Component int `json:"component"`
	Group     int `json:"group"`
	// Before and After are digests of their checkpoints, zero for none.
	Before lethe.Digest `json:"before,omitzero"`
	After  lethe.Digest `json:"after,omitzero"`
	// Timestep is the last one that the later model learnt from.
	Timestep lethe.Timestep `json:"timestep"`
}

// Changes returns the models that differ between the ensembles of two timesteps, by component and
// group, and how many do not.
func (r *Reader) Changes(from, to lethe.Timestep) (changed []Change, unchanged int, err error) {
	r.models.mu.Lock()
	defer r.models.mu.Unlock()
	if err := r.models.readOn(r.store); err != nil {
		return nil, 0, err
	}
	changed = []Change{}
	for g, of := range r.models.of {
		before, had := through(of, from)
		after, has := through(of, to)
		switch {
		case before.Digest != after.Digest:
			changed = append(changed, Change{g.component, g.number, before.Digest, after.Digest, after.Timestep})
		case had && has:
			unchanged++
		}
	}
	slices.SortFunc(changed, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.Component, b.Component), cmp.Compare(a.Group, b.Group))
	})
	return changed, unchanged, nil
}
