// Package docrules tests that documents match the code: links resolve, and the configuration
// keys, metrics and tests that they mention exist.
package docrules
