// Package graphtest has helpers for the tests of partition's packages: drawn, planted and real
// graphs, golden files, and shared transcript commands.
package graphtest
