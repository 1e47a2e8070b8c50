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
	// Slice returns one of them. It is called once at most for each, at the time that it is looked at, by several
	// goroutines at once.
	Slice func(source int) (*lethe.Slice, error)
	// Headers are theirs, or nil. With them no slice is read of which all is heard.
	Headers []Header
	// Known, if not nil, has what was said the last time, and gets what is said now.
	Known *Known
	// Heard, if not nil, returns what somebody else was told about a slice, the same bits as those of
	// Runner.Said, or nil.
	Heard func(source int) *Said
}

// Header says which slice it is.
type Header struct {
	Shard  lethe.ShardID
	Digest lethe.Digest
}

// Said is what models say of the labelled nodes of a slice that they have not learnt from, and what these are: all
// that a meta-model learns from the slice.
type Said struct {
	// Illicit are the labels, in the order of the nodes.
	Illicit []bool
	// Probabilities are those of illicit, model by model, in the order of the models and of the nodes.
	Probabilities []float32
}

// Window are the slices of every shard of some timesteps, oldest first, of which nothing was asked.
func Window(window [][]*lethe.Slice) Sources {
	all := slices.Concat(window...)
	return Sources{Count: len(all), Slice: func(source int) (*lethe.Slice, error) { return all[source], nil }}
}

// source is a slice as models are asked about it.
type source struct {
	shard lethe.ShardID
	// illicit are the labels of its labelled nodes.
	illicit []bool
	// slice is nil where somebody else was told what all models say; labelled are the nodes that are.
	slice    *lethe.Slice
	labelled []int
	answers  answersOf
}

// sourceOf is a slice of which nothing is known.
func sourceOf(s *lethe.Slice) source {
	out := source{shard: s.Shard, slice: s}
	for node, label := range s.Labels {
		if label == lethe.Licit || label == lethe.Illicit {
			out.labelled, out.illicit = append(out.labelled, node), append(out.illicit, label == lethe.Illicit)
		}
	}
	return out
}

// at returns a slice, about which so many models are asked, and what is known of it. What is heard is not
// believed if it is of other nodes or models, as far as can be told.
func (s Sources) at(i, models int) (out source, err error) {
	var heard *Said
	if s.Heard != nil {
		heard = s.Heard(i)
	}
	if heard != nil && len(heard.Probabilities) != models*len(heard.Illicit) {
		heard = nil
	}
	if heard != nil && s.Headers != nil {
		out = source{shard: s.Headers[i].Shard, illicit: heard.Illicit}
	} else {
		slice, err := s.Slice(i)
		if err != nil {
			return out, err
		}
		out = sourceOf(slice)
	}
	if s.Known != nil {
		out.answers = s.Known.of(s.digest(i, out.slice))
	}
	if heard != nil && len(heard.Illicit) == len(out.illicit) {
		out.answers.others, out.answers.rows = heard.Probabilities, len(heard.Illicit)
	}
	return out, nil
}

// digest returns that of a slice, which may be nil if it has a header.
func (s Sources) digest(i int, slice *lethe.Slice) lethe.Digest {
	if s.Headers != nil {
		return s.Headers[i].Digest
	}
	return canonical.DigestSlice(slice)
}
