// Package refine lowers the cut of an assignment and keeps its shards even: classes
// and sizes stay spread as the quotas ask.
//
//   - refine.go: the whole, and exchanges of two nodes of one class;
//   - multilevel.go, anneal.go: annealing from the coarsest level to the graph;
//   - moves.go: single moves under soft quotas; evenout.go: meeting them exactly;
//   - swaps.go: exchanges under exact quotas; slack.go: how far those may give.
package refine
