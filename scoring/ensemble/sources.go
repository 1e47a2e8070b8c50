package ensemble

import (
	"slices"

	"lethe"
	"lethe/canonical"
)

// Sources are the slices that a meta-model is learnt from, those of the oldest timestep first and in the
// order of their shards, and what need not be asked about them.
type Sources struct {
	// Count is how many there are.
	Count int
	// Slice returns one of them. It is called once for each, at the time that it is looked at, by several
	// goroutines at once.
	Slice func(source int) (*lethe.Slice, error)
	// Digests are theirs, or nil: they are worked out then where they are wanted.
	Digests []lethe.Digest
	// Known, if not nil, has what was said the last time, and gets what is said now.
	Known *Known
	// Heard, if not nil, returns what somebody else was told about a slice, the same bits as those of
	// Runner.Said, or nil.
	Heard func(source int) []float32
}

// Window are the slices of every shard of some timesteps, oldest first, of which nothing was asked.
func Window(window [][]*lethe.Slice) Sources {
	all := slices.Concat(window...)
	return Sources{Count: len(all), Slice: func(source int) (*lethe.Slice, error) { return all[source], nil }}
}

// answers are what is known of a slice.
func (s Sources) answers(source int, slice *lethe.Slice) (a answersOf) {
	if s.Known != nil {
		if s.Digests != nil {
			a = s.Known.of(s.Digests[source])
		} else {
			a = s.Known.of(canonical.DigestSlice(slice))
		}
	}
	if s.Heard != nil {
		a.others = s.Heard(source)
	}
	return a
}
