package trainer

import (
	"lethe/internal/check"
	"lethe/trainer/models"
)

// Validate reports every value that is out of bounds.
func (c Config) Validate() error {
	var p check.Problems
	p.Whole("hidden", c.Hidden, 2, 8192)
	c.checkModel(&p)
	c.checkNetworks(&p)
	p.Above("learning_rate", c.LearningRate, 0, 10)
	p.Number("weight_decay", c.WeightDecay, 0, 10)
	p.Whole("window_timesteps", c.WindowTimesteps, 1, 100_000)
	p.Whole("passes", c.Passes, 1, 10_000)
	p.Whole("classes", c.Classes, 2, models.MaxClasses)
	p.OneOf("class_weights", c.ClassWeights, AutoClasses, BalancedClasses, RootClasses, EqualClasses)
	p.AtLeast("patience", c.Patience, 0)
	p.Within("trees", c.Trees.Validate())
	p.Within("logistic", c.Logistic.Validate())
	p.AtLeast("blend.network_timesteps", c.Blend.NetworkTimesteps, 1)
	p.Above("blend.rate", c.Blend.Rate, 0, 1e3)
	return p.Err()
}

// checkModel checks the model, the components of a blend, and the schedule.
func (c Config) checkModel(p *check.Problems) {
	p.OneOf("model", c.Model, append(c.Networks.Names(), StreamModels()...)...)
	p.Each("components", "model", c.Components, append(c.Networks.Names(), ComponentModels()...)...)
	p.OneOf("schedule", c.Schedule, Continual, Window)
	switch {
	case c.Model == Logistic && c.Schedule == Continual:
		p.Bad("schedule", c.Schedule, "window with model logistic, which is fitted anew at every timestep")
	case c.Model == Blend && c.Schedule == Window:
		p.Bad("schedule", c.Schedule, "continual with model blend, which remembers past losses")
	}
	if n := len(c.Components); c.Model == Blend && (n < 1 || n > MaxComponents) {
		p.Bad("components", c.Components, "1 to %d models", MaxComponents)
	}
}

// checkNetworks checks the settings that only some networks have.
func (c Config) checkNetworks(p *check.Problems) {
	if p.Has("model") || p.Has("components") || p.Has("hidden") {
		return // the remaining values depend on these
	}
	for _, n := range c.networks() {
		// The number of features is known only once a slice arrives.
		for _, problem := range check.Of(n.families().Validate(n.Architecture(1))) {
			if !p.Has(problem.Key) && problem.Key != "classes" {
				*p = append(*p, problem)
			}
		}
		p.That(n.Dropout == 0 || n.network().TakesDropout, "dropout", n.Dropout, "0 for model %s", n.Model)
	}
	p.Below("dropout", c.Dropout, 0, 1)
	p.Number("attention_loss", c.AttentionLoss, 0, 1e3)
	p.Number("edge_ratio", c.EdgeRatio, 0, 1)
	p.Number("negative_ratio", c.NegativeRatio, 0, 100)
}
