package configs

import (
	"errors"
	"fmt"
	"strings"

	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/providers/structs"
	"github.com/knadh/koanf/v2"
)

// LoadOptions says where values come from, weakest first. The zero value gives
// the defaults.
type LoadOptions struct {
	// File is a YAML file, or empty for none.
	File string
	// Environ holds NAME=value, as os.Environ returns it.
	Environ []string
	// Overrides are values from the command line by dotted key, as text or in
	// the field's type.
	Overrides map[string]any
}

// Load puts the configuration together and validates it. The error joins one
// error for every problem: a file that cannot be read, an unknown key (with
// the nearest known one), a value of the wrong type, a value out of bounds.
// The caller shows it and exits; nothing can be done with the zero Config that
// comes with it.
func Load(opts LoadOptions) (Config, error) {
	var problems []error
	var settings []setting
	if opts.File != "" {
		read, err := fileSettings(opts.File)
		settings, problems = append(settings, read...), appendIf(problems, err)
	}
	read, err := environmentSettings(opts.Environ)
	settings, problems = append(settings, read...), appendIf(problems, err)
	settings = append(settings, overrideSettings(opts.Overrides)...)

	k := koanf.New(".")
	if err := k.Load(structs.Provider(Default(), "koanf"), nil); err != nil {
		return Config{}, fmt.Errorf("defaults: %w", err)
	}
	origins, found := apply(k, settings)
	problems = append(problems, found...)

	var c Config
	if err := k.Unmarshal("", &c); err != nil {
		return Config{}, fmt.Errorf("configuration: %w", err)
	}
	problems = appendIf(problems, c.problems(func(key string) string { return origins[key] }))
	if err := errors.Join(problems...); err != nil {
		return Config{}, err
	}
	return c, nil
}

// apply lays the settings over the defaults in their order and returns where
// each key's value came from. A setting that is wrong leaves the value before
// it in place, so that validation does not report it again.
func apply(k *koanf.Koanf, settings []setting) (map[string]string, []error) {
	origins := map[string]string{}
	byKey := map[string]field{}
	for _, f := range fields() {
		byKey[f.key] = f
	}
	var problems []error
	for _, s := range settings {
		f, ok := byKey[s.key]
		if !ok {
			problems = append(problems, unknownSetting(s))
			continue
		}
		value, want := convert(s.value, f.typ)
		if want != "" {
			problems = append(problems, problem(s.key, s.value, want, s.origin))
			continue
		}
		if err := k.Load(confmap.Provider(map[string]any{s.key: value}, "."), nil); err != nil {
			problems = append(problems, fmt.Errorf("%s from %s: %w", s.key, s.origin, err))
			continue
		}
		origins[s.key] = s.origin
	}
	return origins, problems
}

func unknownSetting(s setting) error {
	if knownPrefix(s.key) {
		return problem(s.key, s.value, "a section with keys of its own", s.origin)
	}
	if strings.HasPrefix(s.origin, "environment ") {
		names := Keys()
		for i, key := range names {
			names[i] = EnvironmentName(key)
		}
		return unknown(s.key, names, "environment")
	}
	return unknown(s.key, Keys(), s.origin)
}

func appendIf(problems []error, err error) []error {
	if err == nil {
		return problems
	}
	return append(problems, err)
}
