package challenge

import (
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/translog"
)

// committed is a digest that the log commits to, and the leaf that does.
type committed struct {
	digest lethe.Digest
	leaf   int64
	// before is the leaf that committed to the one before, -1 if none did.
	before int64
}

// modelAt names a model after a timestep.
type modelAt struct {
	component, group int
	timestep         lethe.Timestep
}

// View is what the leaves of a log say together: of every slice and model the digest that
// was committed to last, and the requests.
type View struct {
	setup    committed
	slices   map[Pair]committed
	models   map[modelAt]committed
	requests *requests
	// problems are contradictions between leaves.
	problems []string
	// size is the number of leaves.
	size int64
}

// Read takes the leaves of a log, from the first on. The error names the leaf that this
// program cannot read.
func Read(leaves [][]byte) (*View, error) {
	v := &View{
		slices: make(map[Pair]committed), models: make(map[modelAt]committed), requests: newRequests(),
	}
	for _, data := range leaves {
		leaf, err := translog.Decode(data)
		if err != nil {
			return nil, fmt.Errorf("leaf %d of the log: %w", v.size, err)
		}
		v.Take(leaf)
	}
	return v, nil
}

// Take takes the next leaf.
func (v *View) Take(leaf translog.Leaf) {
	switch l := leaf.(type) {
	case translog.Setup:
		v.follows(&v.setup, "the setup", l.Digest, l.Replaces)
	case translog.Slice:
		p := Pair{l.Shard, l.Timestep}
		at := v.slices[p]
		v.follows(&at, fmt.Sprintf("the slice of shard %d at timestep %d", p.Shard, p.Timestep), l.Digest, l.Replaces)
		v.slices[p] = at
	case translog.Checkpoint:
		m := modelAt{l.Component, l.Group, l.Timestep}
		at := v.models[m]
		v.follows(&at, fmt.Sprintf("the model of component %d, group %d after timestep %d", m.component, m.group,
			m.timestep), l.Digest, l.Replaces)
		v.models[m] = at
	case translog.Request:
		if before := v.requests.add(v.size, l); before >= 0 {
			v.problem("leaf %d of the log is the request of leaf %d again", v.size, before)
		}
	case translog.Found:
		if !v.requests.find(v.size, l) {
			v.problem("leaf %d of the log has found something for a request that no leaf before it has, or that has it", v.size)
		}
	case translog.Transition:
		if !v.requests.move(l) {
			v.problem("leaf %d of the log moves a request that no leaf before it has", v.size)
		}
	case translog.Operator:
		if l.Action == translog.ActionRotateSecret {
			v.requests.rotate()
		}
	case translog.Receipt:
		// What is not carried out is not looked for: a receipt for it would be believed unchecked.
		if q := v.requests.byDigest[l.Request]; q == nil || q.state != deletions.Verified {
			v.problem("leaf %d of the log is a receipt of a request that is not verified there", v.size)
		}
	}
	v.size++
}

// follows takes a digest that is committed to in place of one before.
func (v *View) follows(at *committed, what string, digest, replaces lethe.Digest) {
	if at.digest != replaces {
		v.problem("leaf %d of the log says what it replaces of %s, and that is not what leaf %d committed to", v.size, what,
			at.leaf)
	}
	before := at.leaf
	if *at == (committed{}) {
		before = -1
	}
	*at = committed{digest, v.size, before}
}

func (v *View) problem(format string, args ...any) {
	if len(v.problems) < maxProblems {
		v.problems = append(v.problems, fmt.Sprintf(format, args...))
	}
}

// Pairs are those that the log commits to a slice of, ascending. What is gone because its
// timestep became empty is none.
func (v *View) Pairs() []Pair {
	var out []Pair
	for p, at := range v.slices {
		if !at.digest.IsZero() {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, Pair.Compare)
	return out
}

// Slice returns the digest that was committed to last of a slice, zero if there is none.
func (v *View) Slice(p Pair) lethe.Digest { return v.slices[p].digest }

// Model returns the digest that was committed to last of a model, zero if there is none.
func (v *View) Model(component, group int, t lethe.Timestep) lethe.Digest {
	return v.models[modelAt{component, group, t}].digest
}

// Setup returns the digest of the setup that was committed to last, zero if there is none.
func (v *View) Setup() lethe.Digest { return v.setup.digest }

// timesteps are those of the pairs, ascending.
func (v *View) timesteps() []lethe.Timestep {
	all := make(map[lethe.Timestep]bool)
	for p, at := range v.slices {
		if !at.digest.IsZero() {
			all[p.Timestep] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}
