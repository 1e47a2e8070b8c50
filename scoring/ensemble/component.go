package ensemble

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lethe/trainer"
)

// wholeHistory is the window of components that are refitted: on Bitcoin-OTC every shorter one was
// worse.
const wholeHistory = 100_000

// ComponentDefaults returns the configuration of a model as a component of an ensemble. A network
// uses networks, and is trained step by step like a model that is no component. Trees learn from
// whole groups of shards, and are larger than those of one shard; they were tuned on Bitcoin-OTC's
// timesteps 31 to 34, and then reduced to fewer that learn faster, see docs/models.md. Regressions
// stop earlier than those of one shard.
func ComponentDefaults(model string, networks trainer.Config) trainer.Config {
	if !slices.Contains(trainer.RowModels(), model) {
		return networks.For(model)
	}
	c := trainer.DefaultsOf(model)
	c.Seed = networks.Seed
	if c.Schedule == trainer.Window {
		c.WindowTimesteps = wholeHistory
	}
	switch model {
	case trainer.Trees:
		c.Trees.Rounds, c.Trees.MaxLeaves, c.Trees.LearningRate = 350, 7, 0.07
		c.Trees.FeatureShare, c.Trees.MinChildRows = 0.3, 10
	case trainer.Logistic:
		c.Logistic.Tolerance = 1e-4
	}
	return c
}

// ParseComponent parses MODEL:GROUPS, optionally followed by :KEY=VALUE for each deviation from
// ComponentDefaults; there are at most as many groups as shards. Without :GROUPS there are as many
// as shards. The error names the text and the valid form.
func ParseComponent(text string, shards int, networks trainer.Config) (Component, error) {
	fail := func(format string, args ...any) (Component, error) {
		return Component{}, fmt.Errorf("component %q: "+format, append([]any{text}, args...)...)
	}
	fields := strings.Split(strings.TrimSpace(text), ":")
	if known := append(trainer.ComponentModels(), networks.Networks.Names()...); !slices.Contains(known, fields[0]) {
		return fail("want MODEL:GROUPS with one of the models %s", strings.Join(known, ", "))
	}
	c := Component{Config: ComponentDefaults(fields[0], networks), Groups: shards}
	if len(fields) > 1 {
		n, err := strconv.Atoi(fields[1])
		if err != nil || n < 1 {
			return fail("want MODEL:GROUPS with at least 1 group")
		}
		c.Groups = min(n, shards)
	}
	for _, field := range fields[min(2, len(fields)):] {
		key, value, _ := strings.Cut(field, "=")
		if err := set(&c.Config, key, value); err != nil {
			return fail("%w", err)
		}
	}
	if err := c.Config.Validate(); err != nil {
		return fail("%w", err)
	}
	return c, nil
}

// set sets a key of a component's configuration.
func set(config *trainer.Config, key, value string) error {
	integers := map[string]*int{
		"rounds": &config.Trees.Rounds, "leaves": &config.Trees.MaxLeaves, "rows": &config.Trees.MinChildRows,
		"bins": &config.Trees.MaxBins, "window": &config.WindowTimesteps, "passes": &config.Passes,
		"hidden": &config.Hidden,
	}
	numbers := map[string]*float64{
		"rate": &config.Trees.LearningRate, "features": &config.Trees.FeatureShare, "l2": &config.Trees.L2,
	}
	if config.Model == trainer.Logistic {
		numbers["l2"] = &config.Logistic.L2
	}
	var err error
	switch {
	case key == "weights":
		config.ClassWeights = value
	case integers[key] != nil:
		*integers[key], err = strconv.Atoi(value)
	case numbers[key] != nil:
		*numbers[key], err = strconv.ParseFloat(value, 64)
	default:
		return fmt.Errorf("there is no key %q", key)
	}
	if err != nil {
		return fmt.Errorf("%s is %q, want a number", key, value)
	}
	return nil
}
