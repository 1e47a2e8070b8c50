package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lethe/trainer"
)

// component is one model of an ensemble and how many groups of shards it has.
type component struct {
	// name is the component as the command line has it.
	name   string
	groups int
	// raw leaves one-hop features out.
	raw    bool
	config trainer.Config
}

// everyTimestep is the window of models that are fitted to all history.
const everyTimestep = 100_000

// parseComponent reads MODEL:GROUPS, which :raw and :KEY=VALUE may follow. A
// component has at least two groups, so that every row has one that does not hold it.
func parseComponent(text string, shards int, seed uint64) (component, error) {
	fail := func(format string, args ...any) (component, error) {
		return component{}, fmt.Errorf("component %q: "+format, append([]any{text}, args...)...)
	}
	fields := strings.Split(text, ":")
	if len(fields) < 2 || !slices.Contains(trainer.ComponentModels(), fields[0]) {
		return fail("want MODEL:GROUPS with one of the models %s", strings.Join(trainer.ComponentModels(), ", "))
	}
	c := component{name: text, config: trainer.DefaultsOf(fields[0])}
	var err error
	if c.groups, err = strconv.Atoi(fields[1]); err != nil || c.groups < 2 || c.groups > shards {
		return fail("want 2 to %d groups", shards)
	}
	c.config.Seed = seed
	if c.config.Schedule == trainer.Window {
		c.config.WindowTimesteps = everyTimestep
	}
	for _, field := range fields[2:] {
		key, value, _ := strings.Cut(field, "=")
		if field == "raw" {
			c.raw = true
		} else if err := set(&c.config, key, value); err != nil {
			return fail("%w", err)
		}
	}
	return c, nil
}

// set sets a key of the trainer's configuration.
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
	case key == "seed":
		config.Seed, err = strconv.ParseUint(value, 10, 64)
	case integers[key] != nil:
		*integers[key], err = strconv.Atoi(value)
	case numbers[key] != nil:
		*numbers[key], err = strconv.ParseFloat(value, 64)
	default:
		return fmt.Errorf("there is no key %q", key)
	}
	return err
}

// parseEnsembles reads lists of components with commas between them. It returns every
// component once, and per ensemble which it consists of.
func parseEnsembles(texts []string, shards int, seed uint64) (all []component, ensembles [][]int, err error) {
	for _, text := range texts {
		var members []int
		for name := range strings.SplitSeq(text, ",") {
			name = strings.TrimSpace(name)
			at := slices.IndexFunc(all, func(c component) bool { return c.name == name })
			if at < 0 {
				c, err := parseComponent(name, shards, seed)
				if err != nil {
					return nil, nil, err
				}
				at, all = len(all), append(all, c)
			}
			if slices.Contains(members, at) {
				return nil, nil, fmt.Errorf("component %q is in the ensemble twice", name)
			}
			members = append(members, at)
		}
		ensembles = append(ensembles, members)
	}
	return all, ensembles, nil
}
