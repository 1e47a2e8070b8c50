package scoring

import (
	"lethe/internal/check"
	"lethe/scoring/calibrate"
	"lethe/scoring/decision"
	"lethe/scoring/meta"
)

// Config configures how the shards' posteriors become predictions. Use Defaults.
type Config struct {
	// Aggregation is one of Methods.
	Aggregation string `yaml:"aggregation" help:"How models are combined: stack, or the mean of one model per shard."`
	// Threshold is the rule for classifying a transaction as illicit, see decision.ParseRule. A
	// learned rule requires MethodStack.
	Threshold ThresholdRule `yaml:"threshold" help:"When illicit: auto, precision:P, budget:N a timestep, or a number."`
	// Calibration is one of calibrate.Methods. Only MethodStack calibrates.
	Calibration string `yaml:"calibration" help:"How stack makes probabilities: platt, isotonic or none."`
	// LearnTimesteps is the number of latest timesteps that MethodStack learns from.
	LearnTimesteps int `yaml:"learn_timesteps" help:"Latest timesteps whose labels stack learns from."`
	// Reasons is the maximum number of reasons per component of an alert, 0 for none.
	Reasons int `yaml:"reasons" help:"Reasons that each component gives of an alert, on reasons.v1; 0: none."`
	// FeatureNames is a file of feature names for reasons, see reasons.ReadNames.
	FeatureNames string `yaml:"feature_names" help:"File of the features' names for reasons, one per line."`
	// LabelLagTimesteps is the number of timesteps immediately before a scored one that its models
	// were not trained on, as if their labels had not arrived yet. At 0 they were trained through
	// the previous timestep.
	LabelLagTimesteps int `yaml:"label_lag_timesteps" help:"Timesteps before a scored one that no model was trained on."`
	// Provisional enables scoring of transactions on arrival, too.
	Provisional bool `yaml:"provisional" help:"Score transactions when they arrive, too, until their timestep closes."`
}

// Defaults uses the mean, which needs no labels.
func Defaults() Config {
	return Config{
		Aggregation: MethodMean, Threshold: "0.5",
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

// Validate reports all problems of the configuration at once.
func (c Config) Validate() error {
	var p check.Problems
	p.OneOf("aggregation", c.Aggregation, Methods()...)
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
