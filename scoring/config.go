package scoring

import (
	"lethe/internal/check"
	"lethe/scoring/calibrate"
	"lethe/scoring/decision"
	"lethe/scoring/meta"
)

// Config says how the shards' answers become predictions. Take it from Defaults.
type Config struct {
	// Aggregation is one of ServedMethods or MethodStack.
	Aggregation string `yaml:"aggregation" help:"How models are combined: stack, or one of the served aggregations."`
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
	// Threshold is the rule by which a transaction is called illicit, see
	// decision.ParseRule. Only under MethodStack it may be one that is learnt.
	Threshold ThresholdRule `yaml:"threshold" help:"When illicit: auto, precision:P, budget:N a timestep, or a number."`
	// Calibration is one of calibrate.Methods. Only MethodStack calibrates.
	Calibration string `yaml:"calibration" help:"How stack makes probabilities: platt, isotonic or none."`
	// LearnTimesteps is from how many of the latest timesteps MethodStack learns.
	LearnTimesteps int `yaml:"learn_timesteps" help:"Latest timesteps whose labels stack learns from."`
	// Reasons is how many reasons of a component an alert gets at most, 0 for none.
	Reasons int `yaml:"reasons" help:"Reasons that each component gives of an alert, on reasons.v1; 0: none."`
	// FeatureNames is a file of names for reasons, see reasons.ReadNames.
	FeatureNames string `yaml:"feature_names" help:"File of the features' names for reasons, one per line."`
	// LabelLagTimesteps is how many timesteps right before a scored one its
	// models were not trained on, as if their labels were not in yet. At 0 they
	// were trained through the timestep before it.
	LabelLagTimesteps int `yaml:"label_lag_timesteps" help:"Timesteps before a scored one that no model was trained on."`
	// Provisional says whether transactions are scored when they arrive, too.
	Provisional bool `yaml:"provisional" help:"Score transactions when they arrive, too, until their timestep closes."`
}

// Defaults take the mean: similarity was measured within half a point of it,
// which costs nothing and is easier to explain.
func Defaults() Config {
	return Config{
		Aggregation: MethodMean, Temperature: 0.1, Threshold: "0.5",
		Calibration: meta.Defaults().Calibration.Method, LearnTimesteps: meta.Defaults().Timesteps,
		Reasons: 5, Provisional: true,
	}
}

// maxReasons bounds Config.Reasons.
const maxReasons = 20

// ThresholdRule is a rule as text, or a number.
type ThresholdRule string

// Rule returns the rule of the threshold.
func (c Config) Rule() (decision.Rule, error) { return decision.ParseRule(string(c.Threshold)) }

// Validate reports everything that is wrong with the configuration at once.
func (c Config) Validate() error {
	var p check.Problems
	p.OneOf("aggregation", c.Aggregation, append(ServedMethods(), MethodStack)...)
	p.Above("temperature", c.Temperature, 0, 1000)
	rule, err := c.Rule()
	if err == nil && rule.Learnt() {
		p.That(c.Aggregation == MethodStack, "threshold", c.Threshold,
			"budget:n or a number from 0 to 1 with aggregation %s: %s alone learns a threshold", c.Aggregation, MethodStack)
	}
	p.OneOf("calibration", c.Calibration, calibrate.Methods()...)
	p.Whole("learn_timesteps", c.LearnTimesteps, 1, meta.MaxTimesteps)
	p.Whole("reasons", c.Reasons, 0, maxReasons)
	p.Whole("label_lag_timesteps", c.LabelLagTimesteps, 0, 1_000_000)
	return append(check.Of(err), p...).Err()
}
