package trainer

import (
	"fmt"

	"lethe/trainer/kernels"
	"lethe/trainer/layers"
	"lethe/trainer/models"
)

// narrowStep is the granularity of a narrow network's features, so that a few programs fit all
// shards of an ensemble.
const narrowStep = 128

// fitting is a program while it trains on a window, and the checkpoint that it updates.
//
// Of many sparse features, such as the words of a document, most shards have only some. The
// weights of the others do not take part in training: they are never read, and their gradient is
// 0. The program is then compiled for the features that occur, and finish performs the steps of
// the other weights all at once. The bits are those of a program for all features.
type fitting struct {
	*program
	next *Checkpoint
	// first and second are the moments of the program's parameters.
	first, second []float32
	// present and absent select the parameters in and outside the program. Both are nil if the
	// program has all of them.
	present, absent *selection
	// steps are the steps so far, kept for absent.
	steps []kernels.AdamStep
}

// newFitting gets a program for the batches. The caller must return the program to the pool.
func (e *Engine) newFitting(next *Checkpoint, batches []*layers.Batch, rows int, form models.Form) (*fitting, error) {
	f := &fitting{next: next, first: next.FirstMoment, second: next.SecondMoment}
	a, params := f.narrow(e.idle.networks, batches), next.Params
	if f.absent != nil {
		params = f.present.taken(params)
		f.first, f.second = f.present.taken(f.first), f.present.taken(f.second)
		f.steps = make([]kernels.AdamStep, 0, e.config.Passes*len(batches))
	}
	var err error
	f.program, err = e.idle.take(programShape{
		architecture: a, settings: e.config.Settings, form: form,
		capacity: capacityFor(rows), training: true,
	})
	if err != nil {
		return nil, err
	}
	copy(f.Params.Values, params)
	copy(f.Buffers.Values, next.Buffers)
	return f, nil
}

// narrow removes absent features from the batches if that makes the network smaller, and returns
// the program's architecture.
func (f *fitting) narrow(networks models.Families, batches []*layers.Batch) models.Architecture {
	a := f.next.Architecture
	present, absent := occurring(batches, a.Features)
	narrow := a
	narrow.Features = (max(1, len(present)) + narrowStep - 1) / narrowStep * narrowStep
	if len(absent) == 0 || narrow.Features >= a.Features {
		return a
	}
	f.present, f.absent = selectFeatures(networks, a, narrow, present, absent)
	for _, b := range batches {
		if b != nil {
			b.Features.Narrow(present, narrow.Features)
		}
	}
	return narrow
}

// occurring returns the features with a value in some batch, ascending, and the others; both nil
// if the first layer uses all of them.
func occurring(batches []*layers.Batch, features int) (present, absent []uint32) {
	seen := make([]bool, features)
	for _, b := range batches {
		switch {
		case b == nil:
			continue
		case b.Features.Sparse == nil || b.Aggregated.Dense.Rows > 0:
			return nil, nil
		}
		for _, c := range b.Features.Sparse.Columns {
			seen[c] = true
		}
	}
	for c, occurs := range seen {
		if occurs {
			present = append(present, uint32(c))
		} else {
			absent = append(absent, uint32(c))
		}
	}
	return present, absent
}

// finish stores weights, moments and running statistics in the checkpoint.
func (f *fitting) finish(o kernels.Optimiser) error {
	copy(f.next.Buffers, f.Buffers.Values)
	if f.absent == nil {
		copy(f.next.Params, f.Params.Values)
		return nil
	}
	f.present.put(f.next.Params, f.Params.Values)
	f.present.put(f.next.FirstMoment, f.first)
	f.present.put(f.next.SecondMoment, f.second)

	params, first, second := f.absent.taken(f.next.Params), f.absent.taken(f.next.FirstMoment),
		f.absent.taken(f.next.SecondMoment)
	if !o.Idle(f.steps, params, first, second) {
		return fmt.Errorf("weight of a feature that does not occur: %w", ErrNotFinite)
	}
	f.absent.put(f.next.Params, params)
	f.absent.put(f.next.FirstMoment, first)
	f.absent.put(f.next.SecondMoment, second)
	return nil
}
