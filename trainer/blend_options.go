package trainer

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"lethe/trainer/models"
)

// BlendOptions shape the model Blend.
type BlendOptions struct {
	// Components are the models, of Models and RowModels, each once. Default
	// EllipticGIN and Trees.
	Components []string
	// NetworkTimesteps is the window of the components that are networks, which
	// go on from their last state; the others are fitted anew to the whole
	// window. Default 10.
	NetworkTimesteps int
	// Rate is by how much a nat of log-loss lowers the logarithm of a weight,
	// default 0.05.
	Rate float64
}

// blendDefaults is EnsureDefaults for a blend. What shapes its components is
// left to their own defaults.
func (o Options) blendDefaults() Options {
	if o.Blend.Components == nil {
		o.Blend.Components = []string{models.EllipticGIN, Trees}
	}
	o.Blend.NetworkTimesteps = cmp.Or(o.Blend.NetworkTimesteps, 10)
	o.Blend.Rate = cmp.Or(o.Blend.Rate, 0.05)
	o.Schedule = cmp.Or(o.Schedule, Continual)
	o.WindowTimesteps = cmp.Or(o.WindowTimesteps, 1000)
	// Weights per class would move the probabilities of some components and not
	// of others.
	o.ClassWeights = cmp.Or(o.ClassWeights, EqualClasses)
	return o
}

// components returns the options of a blend's models, defaulted.
func (o Options) components() []Options {
	out := make([]Options, 0, len(o.Blend.Components))
	for _, model := range o.Blend.Components {
		c := o
		c.Model, c.Blend = model, BlendOptions{}
		c.Schedule = Window
		if !keepsBody(model) {
			c.Schedule, c.WindowTimesteps = Continual, o.Blend.NetworkTimesteps
		}
		out = append(out, c.EnsureDefaults())
	}
	return out
}

// validateBlend reports everything that is wrong with a blend's options.
func (o Options) validateBlend() error {
	var problems []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	b := o.Blend
	check(len(b.Components) >= 1 && len(b.Components) <= MaxComponents, "blend has %d components, want 1 to %d", len(b.Components), MaxComponents)
	for i, model := range b.Components {
		check(model != Blend, "blend component %q is a blend", model)
		check(!slices.Contains(b.Components[:i], model), "blend component %q is there twice", model)
	}
	check(b.NetworkTimesteps >= 1, "blend network timesteps is %d, want at least 1", b.NetworkTimesteps)
	check(b.Rate > 0 && b.Rate <= 1e3, "blend rate is %g, want above 0, at most 1000", b.Rate)
	check(o.Schedule == Continual, "schedule is %q, want %q for model %q, which remembers past losses", o.Schedule, Continual, Blend)
	check(o.WindowTimesteps >= 1, "window is %d timesteps, want at least 1", o.WindowTimesteps)
	if len(problems) == 0 {
		for _, c := range o.components() {
			if err := c.Validate(); err != nil {
				problems = append(problems, fmt.Errorf("blend component %q: %w", c.Model, err))
			}
		}
	}
	return errors.Join(problems...)
}
