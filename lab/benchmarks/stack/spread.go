package main

import (
	"lethe"
	"lethe/internal/portable"
	"lethe/scoring/stack"
	"lethe/trainer"
)

const (
	// spreadShare is what a node takes from its neighbours in label spreading, and
	// spreadSteps how often.
	spreadShare = .8
	spreadSteps = 20
)

// neighbourMeans returns for every node the mean of its neighbours' values, and its own
// without any.
func neighbourMeans(values []float64, neighbours [][]uint32) []float64 {
	out := make([]float64, len(values))
	for i, of := range neighbours {
		if len(of) == 0 {
			out[i] = values[i]
			continue
		}
		for _, j := range of {
			out[i] += values[j]
		}
		out[i] /= float64(len(of))
	}
	return out
}

// spreadLabels returns per node of a slice the share of illicit in what reaches it of
// the slice's labels along its kept edges, and how much reaches it at all: Zhou et al.,
// "Learning with Local and Global Consistency", NIPS 2003, with means of the neighbours
// for the symmetric normalisation.
func spreadLabels(s *lethe.Slice) (illicit, reached []float64) {
	neighbours := trainer.InputOfSlice(s).Neighbours()
	start := [2][]float64{make([]float64, len(s.Nodes)), make([]float64, len(s.Nodes))}
	for i, label := range s.Labels {
		if label != lethe.Unknown {
			start[0][i] = 1
		}
		if label == lethe.Illicit {
			start[1][i] = 1
		}
	}
	var now [2][]float64
	for k := range start {
		now[k] = start[k]
		for range spreadSteps {
			means := neighbourMeans(now[k], neighbours)
			for i := range means {
				means[i] = spreadShare*means[i] + (1-spreadShare)*start[k][i]
			}
			now[k] = means
		}
	}
	illicit, reached = now[1], now[0]
	for i := range illicit {
		if reached[i] > 0 {
			illicit[i] /= reached[i]
		}
	}
	return illicit, reached
}

// spreadIn returns the slice with the labels that spreading them is sure of. Nodes that no
// label reaches stay unknown.
func (e *extras) spreadIn(s *lethe.Slice) *lethe.Slice {
	illicit, reached := spreadLabels(s)
	for i := range illicit {
		if reached[i] == 0 {
			illicit[i] = .5
		}
	}
	return e.guesses(s, illicit)
}

// smooth moves the logit of every node's probability towards the mean of its neighbours':
// what one model says of a graph, without a label, so that no model that learnt from a
// node has a part in what others say of it.
func smooth(probabilities []float64, neighbours [][]uint32, share float64) []float64 {
	logits := make([]float64, len(probabilities))
	for i, p := range probabilities {
		logits[i] = stack.Logit(p)
	}
	out := neighbourMeans(logits, neighbours)
	for i := range out {
		out[i] = portable.Logistic((1-share)*logits[i] + share*out[i])
	}
	return out
}
