package trainer

import (
	"slices"

	"lethe/trainer/models"
)

// selection says which of a network's parameters make up a shorter vector.
type selection struct {
	runs []run
	size int
}

// run is a number of neighbours, and where they begin in the network's vector and
// in the shorter one.
type run struct{ from, to, size int }

// selectFeatures selects the parameters of a narrow network, which has the present
// ones of the features, and those of the first layer that belong to the absent
// ones. A tensor has a row per feature if its shape differs between the two
// networks.
func selectFeatures(wide, narrow models.Architecture, present, absent []uint32) (inside, outside *selection) {
	inside, outside = new(selection), new(selection)
	into := narrow.Parameters().Specs
	for i, spec := range wide.Parameters().Specs {
		if slices.Equal(spec.Shape, into[i].Shape) {
			inside.add(run{spec.From, into[i].From, spec.Size})
			continue
		}
		width := spec.Size / wide.Features
		for k, feature := range present {
			inside.add(run{spec.From + int(feature)*width, into[i].From + k*width, width})
		}
		for _, feature := range absent {
			outside.add(run{spec.From + int(feature)*width, outside.size, width})
		}
	}
	return inside, outside
}

func (s *selection) add(r run) {
	s.runs, s.size = append(s.runs, r), max(s.size, r.to+r.size)
}

// take copies the selected values of the network's vector into the shorter one,
// put copies them back.
func (s *selection) take(short, long []float32) {
	for _, r := range s.runs {
		copy(short[r.to:r.to+r.size], long[r.from:r.from+r.size])
	}
}

func (s *selection) put(long, short []float32) {
	for _, r := range s.runs {
		copy(long[r.from:r.from+r.size], short[r.to:r.to+r.size])
	}
}

// taken returns the selected values.
func (s *selection) taken(long []float32) []float32 {
	short := make([]float32, s.size)
	s.take(short, long)
	return short
}
