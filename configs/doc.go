// Package configs holds the configuration of a process: it combines those of the packages under one
// set of keys, and adds the process's own settings (directory, roles, web address, log, key files).
//
// A value comes from the last of these sources that sets it: the defaults, a YAML file, the
// environment (LETHE_SECTION_KEY), the command line. Load reports all problems at once, each with
// the key, the value, the bound and the source of the value. The configuration contains no secrets:
// it names files, which LoadOrCreateSecret and LoadOrCreateSigningKey read.
//
// # How a package adds a setting
//
// A configurable package has a type Config, a function Defaults and a method Validate in a file
// config.go, see package ingest/embedded:
//
//   - A field of Config that operators may set has the tags yaml (its key within
//     the section, with the unit last: window_timesteps) and help (one line).
//     Keys, environment variables, flags and `lethe config print` are derived
//     from these tags. Other fields have `yaml:"-"`.
//   - Defaults returns a complete Config: nothing in it is zero to mean "unset".
//   - Validate reports all problems through lethe/internal/check, under the same
//     keys. It expects a complete Config.
//   - Dependencies that are not configurable (folders, clients, loggers,
//     clocks) is a parameter of its constructor.
//
// In this package the type becomes a field of Config, with the section as its key, or is inlined
// into a section (`yaml:",inline"`); Default and Validate call it.
//
// # Files
//
// config.go has the sections, default.go and validate.go the defaults and checks across sections,
// sections.go the conversion to the packages' configurations, settings.go the list of keys, load.go
// and layers.go the loading, convert.go the types of values, nearest.go the hints for misspelled
// keys, print.go the output, schema.go the schema for editors, keyfile.go, secret.go and signing.go
// the key files, instance.go the identity of a data directory, roles.go the names of roles.
package configs
