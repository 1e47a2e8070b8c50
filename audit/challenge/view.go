package challenge

import (
	"fmt"
	"maps"
	"slices"

	"lethe"
	"lethe/deletions"
	"lethe/deletions/translog"
)

// committed is a digest that the log commits to, and the leaf with the commitment.
type committed struct {
	digest lethe.Digest
	leaf   int64
	// before is the leaf with the previous commitment, -1 if there is none.
	before int64
}

// modelAt identifies a model after a timestep.
type modelAt struct {
	component, group int
	timestep         lethe.Timestep
}

// View is the state that the leaves of a log describe: the newest digest of every slice and model,
// and the requests.
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

// Read reads the leaves of a log, from the first on. The error names the leaf that this program
// cannot read.
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

// Take applies the next leaf.
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
		// Slices are searched only for targets of verified requests: another receipt would be unchecked.
		if q := v.requests.byDigest[l.Request]; q == nil || q.state != deletions.Verified {
			v.problem("leaf %d of the log is a receipt of a request that is not verified there", v.size)
		}
	}
	v.size++
}

// follows applies a commitment that replaces a previous digest.
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

// Pairs returns the pairs whose slice the log commits to, ascending, without those whose timestep
// became empty.
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

// Slice returns the newest digest of a slice, zero if there is none.
func (v *View) Slice(p Pair) lethe.Digest { return v.slices[p].digest }

// Model returns the newest digest of a model, zero if there is none.
func (v *View) Model(component, group int, t lethe.Timestep) lethe.Digest {
	return v.models[modelAt{component, group, t}].digest
}

// Setup returns the newest digest of the setup, zero if there is none.
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
