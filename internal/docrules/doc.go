// Package docrules tests that documents say what is there: links lead somewhere, and the keys
// of the configuration and the metrics that they name exist.
package docrules
