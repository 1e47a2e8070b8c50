package trainer

import (
	"context"
	"fmt"
	"math"

	"lethe"
	"lethe/canonical"
)

// Report describes a call of Train.
type Report struct {
	// Slices counts the slices of the window with a label; the others were
	// skipped.
	Slices int
	// Steps counts the optimiser's steps of this call.
	Steps int
	// FirstLoss and FinalLoss are the weighted cross entropy before the first and before the last
	// step, 0 without steps.
	FirstLoss, FinalLoss float64
}

// Progress is one optimiser step.
type Progress struct {
	Shard lethe.ShardID
	// Timestep is the timestep of the slice.
	Timestep lethe.Timestep
	// Epoch is the number of the pass over the window, from 0.
	Epoch int
	// Loss is the weighted cross entropy before the step.
	Loss float64
}

// Train returns the checkpoint after the last slice of the window.
//
// The window holds the shard's latest slices up to and including the new one, ascending by
// timestep, at most Config.WindowTimesteps of them. Training makes Config.Passes passes from the
// oldest to the newest slice, one step per slice, and skips slices without a label; if none has a
// label, the weights stay unchanged and only the lineage advances. previous is the checkpoint
// before the new slice; nil means fresh weights. Under the schedule Window the weights are always
// fresh and previous is only checked. Row models are fitted to all labelled rows of the window at
// once.
//
// The result is a pure function of the arguments, the options and the kernel set; previous is not
// changed. Aggregation of the result is empty.
//
// Errors wrap ErrInvalidSlice, ErrIncompatible, ErrNotFinite or the context's error.
func (e *Engine) Train(ctx context.Context, shard lethe.ShardID, previous *Checkpoint,
	window []*lethe.Slice) (*Checkpoint, Report, error) {
	if err := e.checkWindow(shard, previous, window); err != nil {
		return nil, Report{}, err
	}
	last := window[len(window)-1]
	next := e.start(shard, previous, last.FeatureCount)
	next.Timestep = last.Timestep
	next.Lineage = e.lineage(previous, window)

	fit := e.fit
	switch {
	case looksAtRows(e.config.Model):
		fit = e.fitRows
	case e.config.Model == Blend:
		fit = e.fitBlend
	}
	report, err := fit(ctx, next, window)
	if err != nil {
		return nil, Report{}, err
	}
	return next, report, nil
}

// start returns the state before training.
func (e *Engine) start(shard lethe.ShardID, previous *Checkpoint, features int) *Checkpoint {
	if previous == nil || e.config.Schedule == Window {
		return e.fresh(shard, features)
	}
	return previous.clone()
}

// lineage returns the lineage of the result. It computes only the digests of slices that no
// earlier call covered.
func (e *Engine) lineage(previous *Checkpoint, window []*lethe.Slice) lethe.Digest {
	var earlier lethe.Digest
	if previous != nil && e.config.Schedule == Continual {
		earlier = previous.Lineage
		window = window[len(window)-1:]
	}
	digests := make([]lethe.Digest, len(window))
	for i, s := range window {
		digests[i] = canonical.DigestSlice(s)
	}
	return e.config.LineageOf(earlier, digests)
}

// checkWindow checks that the slices fit each other and the previous checkpoint.
func (e *Engine) checkWindow(shard lethe.ShardID, previous *Checkpoint, window []*lethe.Slice) error {
	if n := len(window); n < 1 || n > e.config.WindowTimesteps {
		return fmt.Errorf("%w: shard %d: window of %d slices, want 1 to %d", ErrInvalidSlice, shard, n,
			e.config.WindowTimesteps)
	}
	for i, s := range window {
		if err := checkSlice(s, e.config.Classes); err != nil {
			return err
		}
		switch {
		case s.Shard != shard:
			return fmt.Errorf("%w: shard %d timestep %d: belongs to shard %d", ErrInvalidSlice, shard, s.Timestep, s.Shard)
		case i > 0 && s.Timestep <= window[i-1].Timestep:
			return fmt.Errorf("%w: shard %d: timestep %d follows %d", ErrInvalidSlice, shard, s.Timestep, window[i-1].Timestep)
		case s.FeatureCount != window[0].FeatureCount:
			return fmt.Errorf("%w: shard %d timestep %d: %d features after %d",
				ErrInvalidSlice, shard, s.Timestep, s.FeatureCount, window[0].FeatureCount)
		}
	}
	if previous == nil {
		return nil
	}
	if err := e.Compatible(previous); err != nil {
		return err
	}
	last := window[len(window)-1]
	features, _, err := previous.shape(e.idle.networks)
	switch {
	case err != nil:
		return fmt.Errorf("%w: shard %d timestep %d: %w", ErrIncompatible, shard, previous.Timestep, err)
	case previous.Shard != shard:
		return fmt.Errorf("%w: belongs to shard %d, not %d", ErrIncompatible, previous.Shard, shard)
	case previous.Timestep >= last.Timestep:
		return fmt.Errorf("%w: shard %d: checkpoint after timestep %d is not before %d",
			ErrIncompatible, shard, previous.Timestep, last.Timestep)
	case features != 0 && features != last.FeatureCount:
		return fmt.Errorf("%w: shard %d timestep %d: %d features, slice has %d",
			ErrIncompatible, shard, previous.Timestep, features, last.FeatureCount)
	}
	return nil
}

// fit trains next in place.
func (e *Engine) fit(ctx context.Context, next *Checkpoint, window []*lethe.Slice) (Report, error) {
	var report Report
	batches, rows, form := e.prepareWindow(window, next.Architecture)
	for _, b := range batches {
		if b != nil {
			report.Slices++
		}
	}
	if report.Slices == 0 {
		return report, nil
	}
	p, err := e.newFitting(next, batches, rows, form)
	if err != nil {
		return report, err
	}
	defer e.idle.give(p.program)
	stop := patience{left: e.config.Patience, limit: e.config.Patience}
	for pass := range e.config.Passes {
		total := 0.0
		for i, b := range batches {
			if b == nil {
				continue
			}
			if err := ctx.Err(); err != nil {
				return report, err
			}
			p.Load(b)
			p.Work.Key = e.stepKey(next, window[i].Timestep, pass)
			if err := e.step(p); err != nil {
				return report, fmt.Errorf("shard %d timestep %d pass %d: %w", next.Shard, window[i].Timestep, pass, err)
			}
			total += p.loss()
			report.count(p.loss())
			if e.observe != nil {
				e.observe(Progress{Shard: next.Shard, Timestep: window[i].Timestep, Epoch: pass, Loss: p.loss()})
			}
		}
		if stop.after(total) {
			break
		}
	}
	if err := p.finish(e.kernels.Optimiser); err != nil {
		return report, fmt.Errorf("shard %d timestep %d: %w", next.Shard, next.Timestep, err)
	}
	return report, nil
}

// stepKey returns the key of a step's random draws on the slice of a timestep.
func (e *Engine) stepKey(next *Checkpoint, slice lethe.Timestep, pass int) uint64 {
	return lethe.NewDraw(e.config.Seed, "training step", uint64(next.Shard),
		uint64(next.Timestep), uint64(slice), uint64(pass)).Uint64()
}

// count adds a step.
func (r *Report) count(loss float64) {
	if r.Steps == 0 {
		r.FirstLoss = loss
	}
	r.FinalLoss = loss
	r.Steps++
}

// patience counts the consecutive passes that did not lower the loss. A limit of 0 never ends
// training.
type patience struct {
	left, limit int
	passes      int
	best        float64
}

// after reports whether training ends after a pass with the given loss.
func (p *patience) after(loss float64) bool {
	if p.passes == 0 || loss < p.best {
		p.best, p.left = loss, p.limit
	} else {
		p.left--
	}
	p.passes++
	return p.limit > 0 && p.left <= 0
}

// step performs one optimiser step on the loaded batch.
func (e *Engine) step(p *fitting) error {
	if err := p.run(); err != nil {
		return err
	}
	if math.IsNaN(p.loss()) || math.IsInf(p.loss(), 0) {
		return fmt.Errorf("loss: %w", ErrNotFinite)
	}
	p.next.Steps++
	p.next.Batches++
	p.update = e.config.adam().at(p.next.Steps)
	if p.absent != nil {
		p.steps = append(p.steps, p.update)
	}
	for i, spec := range p.Params.Layout.Specs {
		from, to := spec.From, spec.From+spec.Size
		weights, first, second := p.Params.Values[from:to], p.first[from:to], p.second[from:to]
		if !e.kernels.Optimiser.Adam(&p.update, weights, p.gradients[i], first, second) {
			return fmt.Errorf("gradient or weight of %s: %w", spec.Name, ErrNotFinite)
		}
	}
	return nil
}
