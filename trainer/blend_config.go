package trainer

// BlendConfig configures the model Blend, besides its components.
type BlendConfig struct {
	// NetworkTimesteps is the window of the components that are networks, which continue from their
	// last state; the others are refitted on the whole window.
	NetworkTimesteps int `yaml:"-"`
	// Rate is how much a nat of log-loss lowers the logarithm of a weight.
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

// For returns the configuration with another model: settings that are specific to a model
// (attention, hops, dropout) become that model's defaults, the others stay.
func (c Config) For(model string) Config {
	c = c.Clone()
	c.Model, c.NetworkConfig = model, c.networkDefaults(model)
	return c
}

// networks returns the configurations of the networks in a model.
func (c Config) networks() []Config {
	switch {
	case c.Model != Blend && !looksAtRows(c.Model):
		return []Config{c}
	case c.Model != Blend:
		return nil
	}
	var out []Config
	for _, one := range c.components() {
		if !keepsBody(one.Model) {
			out = append(out, one)
		}
	}
	return out
}
