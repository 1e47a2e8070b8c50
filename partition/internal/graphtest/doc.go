// Package graphtest is for the tests of partition's packages: graphs drawn, planted
// and real, golden files, and what their transcripts have in common.
package graphtest
