package trainer

import "lethe/trainer/models"

// BlendConfig shapes the model Blend beside its components.
type BlendConfig struct {
	// NetworkTimesteps is the window of the components that are networks, which
	// go on from their last state; the others are fitted anew to the whole
	// window.
	NetworkTimesteps int `yaml:"-"`
	// Rate is by how much a nat of log-loss lowers the logarithm of a weight.
	Rate float64 `yaml:"-"`
}

func defaultBlend() BlendConfig { return BlendConfig{NetworkTimesteps: 10, Rate: 0.05} }

// components returns the configurations of a blend's models.
func (c Config) components() []Config {
	out := make([]Config, 0, len(c.Components))
	for _, model := range c.Components {
		one := c.For(model)
		one.Components, one.ClassWeights = nil, c.classWeights()
		one.Schedule = Window
		if !keepsBody(model) {
			one.Schedule, one.WindowTimesteps = Continual, c.Blend.NetworkTimesteps
		}
		out = append(out, one)
	}
	return out
}

// For returns the configuration with another model: what belongs to the model
// alone (attention, hops, dropout) is that of its defaults, the rest stays.
func (c Config) For(model string) Config {
	c = c.Clone()
	d := DefaultsOf(model)
	c.Model, c.NetworkConfig = model, d.NetworkConfig
	return c
}

// networks returns the configurations of the networks that a model consists of.
func (c Config) networks() []Config {
	switch {
	case c.Model != Blend && !looksAtRows(c.Model):
		return []Config{c}
	case c.Model != Blend:
		return nil
	}
	var out []Config
	for _, one := range c.components() {
		if models.Known(one.Model) {
			out = append(out, one)
		}
	}
	return out
}
