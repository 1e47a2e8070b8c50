// Package docrules tests that documents say what is there: links lead somewhere, and the keys
// of the configuration, the metrics and the tests that they name exist.
package docrules
