package trainer

import (
	"fmt"

	"lethe"
	"lethe/trainer/kernels"
)

// Engine trains shard models and computes probabilities with them. It holds no
// model, only compiled programs for reuse, and may be used from several
// goroutines at once.
type Engine struct {
	opts    Options
	kernels kernels.Set
	idle    pool
	// components are those of a blend.
	components []*Engine
}

// NewEngine returns an engine for options whose unset fields mean the defaults.
func NewEngine(opts Options, kernels kernels.Set) (*Engine, error) {
	opts = opts.EnsureDefaults()
	if err := opts.Validate(); err != nil {
		return nil, fmt.Errorf("trainer options: %w", err)
	}
	e := &Engine{opts: opts, kernels: kernels}
	if opts.Model == Blend {
		for _, o := range opts.components() {
			e.components = append(e.components, &Engine{opts: o, kernels: kernels})
		}
	}
	return e, nil
}

// Options returns the engine's options with every default filled in.
func (e *Engine) Options() Options { return e.opts.Clone() }

// Compatible returns an error that wraps ErrIncompatible if training cannot go
// on from the checkpoint and give what training from the start would give.
func (e *Engine) Compatible(c *Checkpoint) error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("%w: shard %d timestep %d: %s", ErrIncompatible, c.Shard, c.Timestep, fmt.Sprintf(format, args...))
	}
	if _, _, err := c.shape(); err != nil {
		return fail("%v", err)
	}
	if c.Model != e.opts.Model {
		return fail("is a model %q, not %q", c.Model, e.opts.Model)
	}
	if got, want := c.Options, e.opts.Fingerprint(); got != want {
		return fail("trained under options %s, not %s", got, want)
	}
	if !keepsBody(c.Model) && !c.Architecture.Equal(e.opts.Architecture(c.Architecture.Features)) {
		return fail("architecture does not fit the options")
	}
	if c.Kernels != e.kernels.Name() {
		return fail("trained with kernel set %q, not %q", c.Kernels, e.kernels.Name())
	}
	return nil
}

// fresh returns the untrained model of a shard.
func (e *Engine) fresh(shard lethe.ShardID, features int) *Checkpoint {
	c := &Checkpoint{
		Shard:    shard,
		Timestep: lethe.NoTimestep,
		Options:  e.opts.Fingerprint(),
		Kernels:  e.kernels.Name(),
		Model:    e.opts.Model,
	}
	if keepsBody(e.opts.Model) {
		return c
	}
	a := e.opts.Architecture(features)
	params, buffers := a.Parameters(), a.Buffers()
	c.Network = Network{
		Architecture: a,
		Params:       params.Fresh(e.opts.Seed, shard).Values,
		Buffers:      buffers.Fresh(e.opts.Seed, shard).Values,
		FirstMoment:  make([]float32, params.Size),
		SecondMoment: make([]float32, params.Size),
	}
	return c
}
