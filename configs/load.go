package configs

import (
	"errors"
	"reflect"
	"strings"

	"lethe/internal/check"
)

// LoadOptions lists the sources of values, in ascending precedence. The zero value gives the
// defaults.
type LoadOptions struct {
	// File is a YAML file, or empty for none.
	File string
	// Environ holds NAME=value, as os.Environ returns it.
	Environ []string
	// Overrides are values from the command line by dotted key, as text or in the field's type.
	Overrides map[string]any
	// Defaults returns the defaults; nil means Default.
	Defaults func() Config
}

// Load combines and validates the configuration. The error joins one error for every problem: a
// file that cannot be read, an unknown key (with the nearest known one), a value of the wrong type,
// a value out of range. The caller shows it and exits; the Config returned with it is zero.
func Load(opts LoadOptions) (Config, error) {
	var problems []error
	var values []value
	if opts.File != "" {
		read, err := fileValues(opts.File)
		values, problems = append(values, read...), appendIf(problems, err)
	}
	values = append(values, environmentValues(opts.Environ)...)
	values = append(values, overrideValues(opts.Overrides)...)

	c := opts.defaultsFor(values)
	origins, found := apply(&c, values)
	problems = append(problems, found...)
	wrong := check.Of(c.Validate())
	for i := range wrong {
		wrong[i].Origin = origins[wrong[i].Key]
	}
	problems = appendIf(problems, wrong.Err())
	if err := errors.Join(problems...); err != nil {
		return Config{}, err
	}
	return c, nil
}

// defaultsFor returns the defaults for the given values: settings that depend on model, aggregation
// and one-hop features fit the chosen ones.
func (o LoadOptions) defaultsFor(values []value) Config {
	c := Default()
	if o.Defaults != nil {
		c = o.Defaults()
	}
	// Load reports invalid values.
	chosen := func() Config {
		over := c
		apply(&over, values)
		return over
	}
	if model := chosen().Trainer.Model; model != c.Trainer.Model {
		c = c.WithModel(model)
	}
	if method := chosen().Scoring.Aggregation; method != c.Scoring.Aggregation {
		c = c.withAggregation(method)
	}
	c.Repair.OneHopDirected = c.Repair.OneHopDirected && chosen().Repair.OneHop
	return c
}

// apply applies the values to the configuration in order and returns the source of each key's
// value. An invalid value leaves the previous one in place, so that validation does not report it
// again.
func apply(c *Config, values []value) (map[string]string, []error) {
	origins := map[string]string{}
	byKey := map[string]Setting{}
	for _, s := range Settings() {
		byKey[s.Key] = s
	}
	var problems []error
	for _, v := range values {
		s, ok := byKey[v.key]
		if !ok {
			problems = append(problems, unknownKey(v))
			continue
		}
		converted, want := convert(v.content, s.typ)
		if want != "" {
			problems = append(problems, check.Problem{Key: v.key, Value: v.content, Want: want, Origin: v.origin})
			continue
		}
		s.in(c).Set(reflect.ValueOf(converted).Convert(s.typ))
		origins[v.key] = v.origin
	}
	return origins, problems
}

func unknownKey(v value) error {
	if knownPrefix(v.key) {
		return check.Problem{Key: v.key, Value: v.content, Want: "a section with keys of its own", Origin: v.origin}
	}
	if strings.HasPrefix(v.origin, "environment ") {
		names := Keys()
		for i, key := range names {
			names[i] = EnvironmentName(key)
		}
		return unknown(v.key, names, "environment")
	}
	return unknown(v.key, Keys(), v.origin)
}

func appendIf(problems []error, err error) []error {
	if err == nil {
		return problems
	}
	return append(problems, err)
}
