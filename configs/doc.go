// Package configs holds what can be configured in lethe: the types, their
// defaults, where values come from, and what is wrong with them.
//
// A value comes from the last of these that sets it: the defaults, a YAML file,
// the environment (LETHE_SECTION_KEY), the command line. Load reports every
// problem at once, each with the key, the value, the bound and where the value
// came from. Secrets never sit in the configuration: it names files, which
// LoadOrCreateSecret and LoadOrCreateSigningKey read.
package configs
