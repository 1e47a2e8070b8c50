// Package refine lowers the cut of an assignment and preserves the balance of its shards: classes and sizes stay
// within the quotas.
//
//   - refine.go: the whole refinement, and swaps of two nodes of one class;
//   - multilevel.go, anneal.go: annealing from the coarsest level to the graph;
//   - moves.go: single moves under soft quotas; evenout.go: meeting the quotas exactly;
//   - swaps.go: swaps under exact quotas; slack.go: the allowed deviation from quotas.
package refine
