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
	config  Config
	kernels kernels.Set
	idle    pool
	read    readRows
	observe func(Progress)
	// components are those of a blend.
	components []*Engine
}

// NewEngine returns an engine. The error is that of Config.Validate.
func NewEngine(c Config, kernels kernels.Set) (*Engine, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("trainer: %w", err)
	}
	e := &Engine{config: c.Clone(), kernels: kernels}
	if c.Model == Blend {
		for _, one := range c.components() {
			e.components = append(e.components, &Engine{config: one, kernels: kernels})
		}
	}
	return e, nil
}

// Observe makes the engine tell of every optimiser step, for progress lines and
// learning curves. It cannot change a result. Shards that train side by side
// call the function at the same time. It must be set before training.
func (e *Engine) Observe(observe func(Progress)) {
	e.observe = observe
	for _, component := range e.components {
		component.Observe(observe)
	}
}

// Config returns the engine's configuration.
func (e *Engine) Config() Config { return e.config.Clone() }

// Compatible returns an error that wraps ErrIncompatible if training cannot go
// on from the checkpoint and give what training from the start would give.
func (e *Engine) Compatible(c *Checkpoint) error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("%w: shard %d timestep %d: %s", ErrIncompatible, c.Shard, c.Timestep, fmt.Sprintf(format, args...))
	}
	if _, _, err := c.shape(); err != nil {
		return fail("%v", err)
	}
	if c.Model != e.config.Model {
		return fail("is a model %q, not %q", c.Model, e.config.Model)
	}
	if got, want := c.Options, e.config.Fingerprint(); got != want {
		return fail("trained under options %s, not %s", got, want)
	}
	if !keepsBody(c.Model) && !c.Architecture.Equal(e.config.Architecture(c.Architecture.Features)) {
		return fail("architecture does not fit the options")
	}
	if c.Kernels != e.kernels.Name {
		return fail("trained with kernel set %q, not %q", c.Kernels, e.kernels.Name)
	}
	return nil
}

// Features returns how many features a row has that the checkpoint can be asked about,
// or 0 if it can be asked about any: it has met no label yet. The error says what is
// wrong with its state.
func (c *Checkpoint) Features() (int, error) {
	features, _, err := c.shape()
	return features, err
}

// fresh returns the untrained model of a shard.
func (e *Engine) fresh(shard lethe.ShardID, features int) *Checkpoint {
	c := &Checkpoint{
		Shard:    shard,
		Timestep: lethe.NoTimestep,
		Options:  e.config.Fingerprint(),
		Kernels:  e.kernels.Name,
		Model:    e.config.Model,
	}
	if keepsBody(e.config.Model) {
		return c
	}
	a := e.config.Architecture(features)
	params, buffers := a.Parameters(), a.Buffers()
	c.Network = Network{
		Architecture: a,
		Params:       params.Fresh(e.config.Seed, shard).Values,
		Buffers:      buffers.Fresh(e.config.Seed, shard).Values,
		FirstMoment:  make([]float32, params.Size),
		SecondMoment: make([]float32, params.Size),
	}
	return c
}
