package scoring

import "lethe/internal/check"

// Config says how the shards' answers become predictions. Take it from Defaults.
type Config struct {
	// Aggregation is one of ServedMethods.
	Aggregation string `yaml:"aggregation" help:"How shards are combined: one of the served aggregations, such as mean."`
	// Temperature sharpens the weights of similarity.
	//
	// Normalised similarities of the shards of one timestep lie close together: on
	// Bitcoin-OTC in 20 shards their standard deviation is about 0.035. A softmax at
	// temperature 1, as in the authors' notebook, then differs by some 15 % between
	// the best and the worst shard, which is almost the mean. At 0.1 the
	// best weighs 3 to 7 times the worst, and the weights still average as 16 to 18
	// equal ones would (1/Σw²). At 0.02 two to seven shards decide, and the benefit
	// of many models is gone.
	Temperature float64 `yaml:"temperature" help:"Sharpens the weights of similarity."`
	// Threshold is the probability from which a transaction is called illicit.
	Threshold float64 `yaml:"threshold" help:"Probability from which a transaction is called illicit."`
	// LabelLagTimesteps is how many timesteps right before a scored one its
	// models were not trained on, as if their labels were not in yet. At 0 they
	// were trained through the timestep before it.
	LabelLagTimesteps int `yaml:"label_lag_timesteps" help:"Timesteps before a scored one that no model was trained on."`
}

// Defaults take the mean: similarity was measured within half a point of it,
// which costs nothing and is easier to explain.
func Defaults() Config { return Config{Aggregation: MethodMean, Temperature: 0.1, Threshold: 0.5} }

// Validate reports everything that is wrong with the configuration at once.
func (c Config) Validate() error {
	var p check.Problems
	p.OneOf("aggregation", c.Aggregation, ServedMethods()...)
	p.Above("temperature", c.Temperature, 0, 1000)
	p.Number("threshold", c.Threshold, 0, 1)
	p.Whole("label_lag_timesteps", c.LabelLagTimesteps, 0, 1_000_000)
	return p.Err()
}
