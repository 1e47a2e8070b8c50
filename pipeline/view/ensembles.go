package view

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"lethe"
	"lethe/deletions/translog"
	"lethe/internal/swapstore"
)

// models are the newest models of every group and the tree, read from the log: all leaves at the start, later new
// ones, so that no reader waits. A replaced leaf has all read again.
type models struct {
	mu   sync.Mutex
	read int64
	tree translog.Tree
	// of are a group's models by the last timestep learnt.
	of map[group]map[lethe.Timestep]translog.Checkpoint
}

// group is a component's group; the meta-model is behind the last component.
type group struct{ component, number int }

const mark = `"kind":"checkpoint"`

// follow locks the models and reads new leaves.
func (m *models) follow(store *swapstore.Store) (unlock func(), err error) {
	m.mu.Lock()
	return m.mu.Unlock, m.readOn(store)
}

// forget makes all leaves be read again.
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

// through returns the newest model that learnt nothing after a timestep.
func through(list map[lethe.Timestep]translog.Checkpoint, t lethe.Timestep) (out translog.Checkpoint, found bool) {
	for at, c := range list {
		if at <= t && (!found || at > out.Timestep) {
			out, found = c, true
		}
	}
	return out, found
}

// Ensemble is the ensemble that was served after a timestep.
type Ensemble struct {
	Through lethe.Timestep `json:"through"`
	// Trained are the models that learnt from this timestep, Replaced those of them that were retrained since.
	Models   int `json:"models"`
	Trained  int `json:"trained"`
	Replaced int `json:"replaced"`
	// Learnt is when the log got the newest model of this timestep; AfterSeconds is how long after the newest slice the
	// last first model of a group came. Nil if unknown.
	Learnt       *time.Time `json:"learnt"`
	AfterSeconds *float64   `json:"learnt_after_seconds"`
}

// modelIn reads a leaf, if it is a model's.
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

// Ensembles returns a page of ensembles before a timestep, newest first, and whether more follow.
func (r *Reader) Ensembles(before lethe.Timestep, limit int) (list []Ensemble, more bool, err error) {
	unlock, err := r.models.follow(r.store)
	defer unlock()
	if err != nil {
		return nil, false, err
	}
	known := make(map[lethe.Timestep]bool)
	for _, of := range r.models.of {
		for t := range of {
			if t < before {
				known[t] = true
			}
		}
	}
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

// GroupModel is a group's model.
type GroupModel struct {
	Component int `json:"component"`
	Group     int `json:"group"`
	// Timestep is the last one learnt.
	Timestep lethe.Timestep `json:"timestep"`
	Digest   lethe.Digest   `json:"digest"`
	Lineage  lethe.Digest   `json:"lineage"`
	// Replaced means that it was retrained after a replacement.
	Replaced bool `json:"replaced"`
}

// Groups returns the models of the ensemble through a timestep (nil for the newest) by component and group, and that
// timestep.
func (r *Reader) Groups(asked *lethe.Timestep) (at lethe.Timestep, list []GroupModel, err error) {
	unlock, err := r.models.follow(r.store)
	defer unlock()
	if err != nil {
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

// Change is a model that differs between two ensembles.
type Change struct {
	Component int `json:"component"`
	Group     int `json:"group"`
	// Before and After are checkpoint digests, zero for none.
	Before lethe.Digest `json:"before,omitzero"`
	After  lethe.Digest `json:"after,omitzero"`
	// Timestep is the last one the later model learnt.
	Timestep lethe.Timestep `json:"timestep"`
}

// Changes returns the models that differ between two timesteps' ensembles, by component and group, and the number of
// others.
func (r *Reader) Changes(from, to lethe.Timestep) (changed []Change, unchanged int, err error) {
	unlock, err := r.models.follow(r.store)
	defer unlock()
	if err != nil {
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
