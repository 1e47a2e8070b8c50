package trainer

import (
	"slices"

	"lethe/trainer/models"
)

// selection maps some of a network's parameters to a shorter vector; positions without a selected
// parameter are 0.
type selection struct {
	runs []run
	size int
}

// run is a number of adjacent parameters, and where they begin in the network's vector and in the shorter
// one.
type run struct{ from, to, size int }

// selectFeatures selects the parameters of a narrow network, which has only the present features,
// and the first layer's parameters of the absent features. A tensor has a row per feature if its
// shape differs between the two networks.
func selectFeatures(
	networks models.Families, wide, narrow models.Architecture, present, absent []uint32,
) (inside, outside *selection) {
	layout, _ := networks.Tensors(narrow)
	from, _ := networks.Tensors(wide)
	into := layout.Specs
	inside, outside = &selection{size: layout.Size}, new(selection)
	for i, spec := range from.Specs {
		if slices.Equal(spec.Shape, into[i].Shape) {
			inside.runs = append(inside.runs, run{spec.From, into[i].From, spec.Size})
			continue
		}
		width := spec.Size / wide.Features
		for k, feature := range present {
			inside.runs = append(inside.runs, run{spec.From + int(feature)*width, into[i].From + k*width, width})
		}
		for _, feature := range absent {
			outside.runs = append(outside.runs, run{spec.From + int(feature)*width, outside.size, width})
			outside.size += width
		}
	}
	return inside, outside
}

// taken extracts the shorter vector from the network's vector; put copies it back.
func (s *selection) taken(long []float32) []float32 {
	short := make([]float32, s.size)
	for _, r := range s.runs {
		copy(short[r.to:r.to+r.size], long[r.from:r.from+r.size])
	}
	return short
}

func (s *selection) put(long, short []float32) {
	for _, r := range s.runs {
		copy(long[r.from:r.from+r.size], short[r.to:r.to+r.size])
	}
}
