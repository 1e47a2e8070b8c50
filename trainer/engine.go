package trainer

import (
	"fmt"

	"lethe"
	"lethe/trainer/kernels"
	"lethe/trainer/models"
)

// Engine trains shard models and computes probabilities with them. It holds no model, only
// compiled programs for reuse, and may be used from several goroutines.
type Engine struct {
	config  Config
	kernels kernels.Set
	idle    pool
	read    readRows
	observe func(Progress)
	// components are the engines of a blend's components.
	components []*Engine
}

// NewEngine returns an engine. The error is that of Config.Validate.
func NewEngine(c Config, kernels kernels.Set) (*Engine, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("trainer: %w", err)
	}
	e := engineOf(c, kernels)
	if c.Model == Blend {
		for _, one := range c.components() {
			e.components = append(e.components, engineOf(one, kernels))
		}
	}
	return e, nil
}

func engineOf(c Config, kernels kernels.Set) *Engine {
	return &Engine{config: c.Clone(), kernels: kernels, idle: pool{networks: c.families(), kernels: kernels}}
}

// Observe sets a function that is notified of every optimiser step, for progress lines and
// learning curves. It cannot change a result. Shards that train in parallel call it concurrently.
// It must be set before training.
func (e *Engine) Observe(observe func(Progress)) {
	e.observe = observe
	for _, component := range e.components {
		component.Observe(observe)
	}
}

// Config returns the engine's configuration.
func (e *Engine) Config() Config { return e.config.Clone() }

// Compatible returns an error that wraps ErrIncompatible if continuing from the checkpoint would
// not give the same result as training from the start.
func (e *Engine) Compatible(c *Checkpoint) error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("%w: shard %d timestep %d: %s", ErrIncompatible, c.Shard, c.Timestep, fmt.Sprintf(format, args...))
	}
	if _, _, err := c.shape(e.idle.networks); err != nil {
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

// Features returns the number of features of the checkpoint's input rows, or 0 for any number:
// the model was not trained on a label yet. The error describes an invalid state.
func (c *Checkpoint) Features() (int, error) {
	features, _, err := c.shape(models.Served())
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
	params, buffers := e.idle.networks.Tensors(a)
	c.Network = Network{
		Architecture: a,
		Params:       params.Fresh(e.config.Seed, shard).Values,
		Buffers:      buffers.Fresh(e.config.Seed, shard).Values,
		FirstMoment:  make([]float32, params.Size),
		SecondMoment: make([]float32, params.Size),
	}
	return c
}
