package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lethe/lab/networks"
	"lethe/scoring/ensemble"
	"lethe/trainer"
	"lethe/trainer/models"
)

// component is one model of an ensemble and how many groups of shards it has.
type component struct {
	// name is the component as the command line has it.
	name   string
	groups int
	// first is the number of the first group's model among those of the ensemble.
	first int
	// raw leaves one-hop features out.
	raw    bool
	config trainer.Config
}

// parseComponent reads what ensemble.ParseComponent reads, and besides :raw and :seed=N.
// Groups have to be said, at least two of them, so that every row has one that does not
// hold it.
func parseComponent(text string, shards int, seed uint64) (component, error) {
	c := component{name: text}
	fields := strings.Split(text, ":")
	var served []string
	for _, field := range fields {
		key, value, _ := strings.Cut(field, "=")
		switch key {
		case "raw":
			c.raw = true
		case "seed":
			var err error
			if seed, err = strconv.ParseUint(value, 10, 64); err != nil {
				return component{}, fmt.Errorf("component %q: seed is %q, want a whole number", text, value)
			}
		default:
			served = append(served, field)
		}
	}
	parsed, err := ensemble.ParseComponent(strings.Join(served, ":"), shards, networks.Defaults(models.EllipticGIN))
	if err != nil {
		return component{}, err
	}
	n := ""
	if len(served) > 1 {
		n = served[1]
	}
	if c.groups, err = strconv.Atoi(n); err != nil || c.groups < 2 || c.groups > shards {
		return component{}, fmt.Errorf("component %q: want MODEL:GROUPS with 2 to %d groups", text, shards)
	}
	c.config = parsed.Config
	c.config.Seed = seed
	return c, nil
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
				if at = len(all); at > 0 {
					c.first = all[at-1].first + all[at-1].groups
				}
				all = append(all, c)
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
