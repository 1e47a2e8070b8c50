package main

import (
	"slices"
	"strings"

	"lethe/internal/command"
	"lethe/lab/networks"
	"lethe/trainer"
)

// allModels are the models that are trained.
func allModels() []string {
	return append(append(networks.Names(), trainer.RowModels()...), trainer.Blend)
}

// defaultComponents are those of a blend that names none.
func defaultComponents() []string {
	return trainer.DefaultsOf(trainer.Blend).Components
}

// fillComponents names the models of a blend that names none.
func (c *trainCmd) fillComponents() {
	if c.Model == trainer.Blend && len(c.Components) == 0 {
		c.Components = defaultComponents()
	}
}

// checkBlend checks the models of a blend and what goes with them.
func (c *trainCmd) checkBlend() error {
	if c.Model != trainer.Blend {
		if len(c.Components) > 0 {
			return command.Usagef("--components names the models of --model %s, and --model is %s", trainer.Blend, c.Model)
		}
		return nil
	}
	if len(c.Components) > trainer.MaxComponents {
		return command.Usagef("--components names %d models, must be at most %d", len(c.Components), trainer.MaxComponents)
	}
	components, hasNetworks := append(networks.Names(), trainer.RowModels()...), len(c.Components) == 0
	for i, model := range c.Components {
		if !slices.Contains(components, model) {
			return command.Usagef("--components names %q, must be of %s", model, strings.Join(components, ", "))
		}
		if slices.Contains(c.Components[:i], model) {
			return command.Usagef("--components names %s twice", model)
		}
		hasNetworks = hasNetworks || slices.Contains(networks.Names(), model)
	}
	if !hasNetworks && c.shapesNetworks() {
		return command.Usagef("--hidden, --epochs, --learning-rate and --weight-decay shape networks, and --components %s "+
			"has none", strings.Join(c.Components, ","))
	}
	return nil
}
